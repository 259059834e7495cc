#include <daybook/cron.hpp>

#include <daybook/error.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace daybook {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;
using std::chrono::year;

timestamp at(int y, unsigned m, unsigned d, int hour = 0, int minute = 0, int second = 0) {
  return sys_days{year{y} / std::chrono::month{m} / std::chrono::day{d}} +
         std::chrono::hours{hour} + std::chrono::minutes{minute} + std::chrono::seconds{second};
}

std::string text(timestamp instant) {
  auto const second = std::chrono::floor<std::chrono::seconds>(instant);
  auto const day = std::chrono::floor<std::chrono::days>(second);
  std::chrono::year_month_day const date{day};
  auto const time = (second - day).count();
  std::array<char, 64> out{};
  std::snprintf(out.data(), out.size(), "%04d-%02u-%02u %02d:%02d:%02d", int{date.year()},
                unsigned{date.month()}, unsigned{date.day()}, static_cast<int>(time / 3600),
                static_cast<int>(time / 60 % 60), static_cast<int>(time % 60));
  return out.data();
}

std::vector<std::string> next(std::string_view expression, timestamp after, int count,
                              zone const& zone = {}, clock_changes changes = {}) {
  auto const of = cron::parse(expression);
  std::vector<std::string> found;
  for (auto tick = of.next(after, zone, changes); tick && count > 0;
       tick = of.next(*tick, zone, changes)) {
    found.push_back(text(*tick));
    --count;
  }
  return found;
}

std::string why_not(std::string_view expression) {
  try {
    static_cast<void>(cron::parse(expression));
    return "nothing";
  } catch (error const& e) {
    return e.kind() == error_code::bad_argument ? e.what() : "another kind of fault";
  }
}

using testing::ElementsAre;

TEST(cron, finds_the_coming_ticks) {
  struct line {
    std::string_view expression;
    timestamp after;
    std::array<std::string_view, 2> wanted;
  };
  std::vector<line> const table{
      {"* * * * *", at(2026, 1, 1), {"2026-01-01 00:01:00", "2026-01-01 00:02:00"}},
      {"*/15 9-17 * * MON-FRI",
       at(2026, 1, 2, 17, 30),
       {"2026-01-02 17:45:00", "2026-01-05 09:00:00"}},
      {"0 0 1 1 *", at(2026, 1, 1), {"2027-01-01 00:00:00", "2028-01-01 00:00:00"}},
      {"@weekly", at(2026, 1, 1), {"2026-01-04 00:00:00", "2026-01-11 00:00:00"}},
      {"*/20 * * * * *", at(2026, 1, 1, 0, 0, 59), {"2026-01-01 00:01:00", "2026-01-01 00:01:20"}},
      {"5 4 3 2 1 *", at(2026, 1, 1), {"2026-01-02 03:04:05", "2027-01-02 03:04:05"}},
      {"0 0 29 2 *", at(2096, 3, 1), {"2104-02-29 00:00:00", "2108-02-29 00:00:00"}},
      {"0 0 29 2 +MON", at(2072, 3, 1), {"2112-02-29 00:00:00", "2140-02-29 00:00:00"}},
      {"0 0 L * *", at(2028, 2, 1), {"2028-02-29 00:00:00", "2028-03-31 00:00:00"}},
      {"0 0 L-2 * *", at(2026, 2, 1), {"2026-02-26 00:00:00", "2026-03-29 00:00:00"}},
      {"0 0 L-30 * *", at(2026, 2, 1), {"2026-03-01 00:00:00", "2026-05-01 00:00:00"}},
      {"0 0 LW * *", at(2026, 1, 1), {"2026-01-30 00:00:00", "2026-02-27 00:00:00"}},
      {"0 0 15W * *", at(2026, 2, 1), {"2026-02-16 00:00:00", "2026-03-16 00:00:00"}},
      {"0 0 1W 8 *", at(2026, 1, 1), {"2026-08-03 00:00:00", "2027-08-02 00:00:00"}},
      {"0 0 31W 1 *", at(2027, 1, 1), {"2027-01-29 00:00:00", "2028-01-31 00:00:00"}},
      {"0 0 * * FRI#2", at(2026, 1, 1), {"2026-01-09 00:00:00", "2026-02-13 00:00:00"}},
      {"0 0 * * 5#5", at(2026, 2, 1), {"2026-05-29 00:00:00", "2026-07-31 00:00:00"}},
      {"0 0 * * FRIL", at(2026, 1, 1), {"2026-01-30 00:00:00", "2026-02-27 00:00:00"}},
      {"0 0 * * 5#l", at(2026, 1, 1), {"2026-01-30 00:00:00", "2026-02-27 00:00:00"}},
      // Either of two restricted day fields; both when one has a star, or by +.
      {"0 0 13 * FRI", at(2026, 2, 7), {"2026-02-13 00:00:00", "2026-02-20 00:00:00"}},
      {"0 0 13 * +FRI", at(2026, 1, 1), {"2026-02-13 00:00:00", "2026-03-13 00:00:00"}},
      {"0 0 */2 * FRI", at(2026, 1, 1), {"2026-01-09 00:00:00", "2026-01-23 00:00:00"}},
      {"0 0 ? jan-feb,dec sun-tue",
       at(2026, 2, 20),
       {"2026-02-22 00:00:00", "2026-02-23 00:00:00"}},
      {"0 0 * * FRI-SUN", at(2026, 1, 4), {"2026-01-09 00:00:00", "2026-01-10 00:00:00"}},
      {"0 0 * * 7", at(2026, 1, 1), {"2026-01-04 00:00:00", "2026-01-11 00:00:00"}},
      {"\t1-7/3,30  0\t* * *  ", at(2026, 1, 1), {"2026-01-01 00:01:00", "2026-01-01 00:04:00"}},
  };
  for (auto const& [expression, after, wanted] : table) {
    EXPECT_THAT(next(expression, after, 2), ElementsAre(wanted[0], wanted[1])) << expression;
  }
}

TEST(cron, goes_back_over_the_same_ticks) {
  for (auto const* const expression : {"* * * * *", "*/7 */5 * * *", "1,30 1,2 3 L-1,5W * FRI#2",
                                       "0 0 29 2 *", "0 0 29 2 +MON", "59 59 23 31 12 *"}) {
    auto const of = cron::parse(expression);
    std::vector<timestamp> there;
    auto last = at(2026, 1, 1);
    for (int i = 0; i < 50; ++i) there.push_back(last = *of.next(last));
    for (int i = 49; i > 0; --i) {
      auto const before = of.previous(there[static_cast<std::size_t>(i)]);
      ASSERT_EQ(before, there[static_cast<std::size_t>(i - 1)]) << expression << " " << i;
    }
  }
}

TEST(cron, is_after_and_before_to_the_microsecond) {
  auto const daily = cron("@daily");
  EXPECT_EQ(daily.next(at(2026, 1, 1)), at(2026, 1, 2));
  EXPECT_EQ(daily.next(at(2026, 1, 1) - 1us), at(2026, 1, 1));
  EXPECT_EQ(daily.previous(at(2026, 1, 2)), at(2026, 1, 1));
  EXPECT_EQ(daily.previous(at(2026, 1, 2) + 1us), at(2026, 1, 2));
}

TEST(cron, ends_with_the_calendar) {
  auto const yearly = cron("@yearly");
  EXPECT_EQ(yearly.next(at(9998, 6, 1)), at(9999, 1, 1));
  EXPECT_EQ(yearly.next(at(9999, 6, 1)), std::nullopt);
  EXPECT_EQ(yearly.next(timestamp::max()), std::nullopt);
  EXPECT_EQ(yearly.previous(timestamp::max()), at(9999, 1, 1));
  EXPECT_EQ(yearly.next(timestamp::min()), at(1, 1, 1));
  EXPECT_EQ(yearly.previous(at(1, 1, 1)), std::nullopt);
  EXPECT_EQ(yearly.previous(timestamp::min()), std::nullopt);
  zone const berlin("Europe/Berlin");
  EXPECT_EQ(yearly.next(timestamp::max(), berlin), std::nullopt);
  EXPECT_EQ(yearly.previous(timestamp::max(), berlin), at(9998, 12, 31, 23));
  EXPECT_EQ(yearly.previous(timestamp::min(), berlin), std::nullopt);
  EXPECT_TRUE(yearly.next(timestamp::min(), berlin));
}

TEST(cron, says_what_is_wrong_and_where) {
  std::vector<std::pair<std::string, std::string>> const table{
      {"", "five fields are needed"},
      {"* * * *", "five fields are needed"},
      {"* * * * * * 2027", "character 13: six fields are the most"},
      {"61 * * * *", "character 1: minute '61': 0 to 59 are possible"},
      {"* 24 * * *", "character 3: hour '24': 0 to 23"},
      {"* * 0 * *", "character 5: day of the month '0': 1 to 31"},
      {"* * * 13 *", "character 7: month '13': 1 to 12"},
      {"* * * * 8", "character 9: day of the week '8': 0 to 7"},
      {"60 * * * * *", "character 1: second '60': 0 to 59"},
      {"0-4294967295 * * * *", "character 3: minute '0-4294967295': 0 to 59"},
      {"18446744073709551617 * * * *", "0 to 59 are possible"},
      {"1,2,99 * * * *", "character 5: minute '99': 0 to 59"},
      {"* 22-2 * * *", "character 6: hour '22-2': a range runs upwards"},
      {"*/0 * * * *", "character 3: minute '*/0': a step is at least 1"},
      {"*/61 * * * *", "not wider than its range"},
      {"10-20/12 * * * *", "not wider than its range"},
      {"5/15 * * * *", "write 5/15 as 5-59/15"},
      {"* * * FOO *", "character 7: month 'FOO': names are JAN to DEC"},
      {"* * * * FRIDAY", "character 12: day of the week 'FRIDAY': cannot go on with 'D'"},
      {"* * * * L", "the last Friday is FRIL"},
      {"* * * * MON#6", "character 13: day of the week 'MON#6': a month has days 1 to 5"},
      {"* * L-31 * *", "L-0 to L-30"},
      {"* L * * *", "character 3: hour 'L': cannot go on with 'L'"},
      {"* 5W * * *", "cannot go on with 'W'"},
      {"1,, * * * *", "character 3: minute '': cannot go on with ','"},
      {"1, * * * *", "character 3: minute '': something is missing at its end"},
      {"6~15 * * * *", "write H(1-5)"},
      {"H(5-1) * * * *", "a range runs upwards"},
      {"H(0-59 * * * *", "something is missing"},
      {"@every 5m", "five fields are needed"},
      {"@reboot", "for an interval write */5"},
      {"0 0 30 2 *", "there is no such day in any year"},
      {"0 0 31 4,6,9,11 *", "no such day"},
      {"0 0 30W 2 *", "no such day"},
      {"0 0 L-29 2 *", "no such day"},
      {"0 0 15W * +SAT", "no such day"},
      {"0 0 8 * +MON#1", "no such day"},
      {std::string("* * * * \0", 9), "cannot go on with '?'"},
      {"* * * * \xc3\xa4", "cannot go on with '?'"},
      {std::string(256, '*'), "at most 255 bytes"},
  };
  for (auto const& [expression, wanted] : table) {
    EXPECT_THAT(why_not(expression), testing::HasSubstr(wanted)) << expression;
  }
  for (auto const* const fine : {"0 0 31 2 MON", "0 0 29 2 *", "* * * * 0-7", "*/60 * * * *"}) {
    EXPECT_EQ(why_not(fine), "nothing") << fine;
  }
}

TEST(cron, draws_from_the_name) {
  cron const plain("H H(1-4) * * *");
  auto const one = plain.hashed("export");
  EXPECT_EQ(one, plain.hashed("export"));
  EXPECT_NE(one, plain.hashed("import"));
  EXPECT_EQ(one.text(), plain.text());
  // For ever: these numbers are in people's plans.
  EXPECT_EQ(text(*one.next(at(2026, 1, 1))), "2026-01-01 01:24:00");
  EXPECT_EQ(text(*cron("H H H * *").hashed("a").next(at(2026, 1, 1))), "2026-01-13 11:47:00");
}

TEST(cron, may_draw_a_day_of_no_year) {
  auto const last_of_april = cron::parse("0 0 H(30-31) 4 *");
  int drawn = 0;
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    try {
      auto const of = last_of_april.hashed(std::to_string(i));
      drawn += of.next(at(2026, 1, 1)) == at(2026, 4, 30) ? 1 : 0;
    } catch (error const& e) {
      refused += e.kind() == error_code::bad_argument ? 1 : 0;
    }
  }
  EXPECT_EQ(drawn + refused, 100);
  EXPECT_GT(drawn, 20);
  EXPECT_GT(refused, 20);
}

TEST(cron, spreads_names_over_all_there_is) {
  std::array<int, 60> minutes{};
  constexpr int names = 6000;
  for (int i = 0; i < names; ++i) {
    auto const name = "job-" + std::to_string(i);
    auto const of = cron("H H/6 H * H").hashed(name).fields();
    ASSERT_EQ(std::popcount(of.minutes), 1);
    ASSERT_EQ(std::popcount(of.hours), 4);
    ASSERT_EQ(of.days >> 29U, 0U) << "every month has the day";
    ASSERT_LT(of.weekdays, 128);
    ++minutes[static_cast<std::size_t>(std::countr_zero(of.minutes))];
    auto const range = cron("H(10-19)/5 * * * *").hashed(name).fields().minutes;
    ASSERT_EQ(std::popcount(range), 2);
    ASSERT_EQ(range & ~(std::uint64_t{0x3ff} << 10U), 0U);
  }
  EXPECT_GT(*std::min_element(minutes.begin(), minutes.end()), names / 60 / 2);
  EXPECT_LT(*std::max_element(minutes.begin(), minutes.end()), names / 60 * 2);
}

TEST(cron, fixed_times_and_changes_of_clocks) {
  zone const berlin("Europe/Berlin");
  auto const spring = at(2027, 3, 27, 12);  // 28 March: 02:00 to 03:00 at 01:00 UTC
  EXPECT_THAT(next("30 2 * * *", spring, 2, berlin),
              ElementsAre("2027-03-28 01:00:00", "2027-03-29 00:30:00"));
  EXPECT_THAT(next("30 2 * * *", spring, 2, berlin, {.gap = gap::skip}),
              ElementsAre("2027-03-29 00:30:00", "2027-03-30 00:30:00"));
  EXPECT_THAT(next("*/20 2,3 * * *", spring, 2, berlin),  // a star: by the real clock
              ElementsAre("2027-03-28 01:00:00", "2027-03-28 01:20:00"));
  EXPECT_THAT(next("0,30 2-3 * * *", spring, 3, berlin),  // three at one instant are one
              ElementsAre("2027-03-28 01:00:00", "2027-03-28 01:30:00", "2027-03-29 00:00:00"));
  auto const autumn = at(2027, 10, 30, 12);  // 31 October: 03:00 to 02:00 at 01:00 UTC
  EXPECT_THAT(next("30 2 * * *", autumn, 2, berlin),
              ElementsAre("2027-10-31 00:30:00", "2027-11-01 01:30:00"));
  EXPECT_THAT(next("30 2 * * *", autumn, 2, berlin, {.fold = fold::second}),
              ElementsAre("2027-10-31 01:30:00", "2027-11-01 01:30:00"));
  EXPECT_THAT(next("30 2 * * *", autumn, 2, berlin, {.fold = fold::both}),
              ElementsAre("2027-10-31 00:30:00", "2027-10-31 01:30:00"));
  EXPECT_THAT(next("30 * 31 10 *", autumn, 4, berlin),
              ElementsAre("2027-10-30 22:30:00", "2027-10-30 23:30:00", "2027-10-31 00:30:00",
                          "2027-10-31 01:30:00"));
  // A day that Samoa did not have is a correction; so are three hours at Casey.
  EXPECT_THAT(next("0 12 * * *", at(2011, 12, 29), 2, zone("Pacific/Apia")),
              ElementsAre("2011-12-29 22:00:00", "2011-12-30 22:00:00"));
}

TEST(cron, the_same_far_beyond_2037) {
  zone const berlin("Europe/Berlin");
  EXPECT_THAT(next("30 2 * * *", at(2300, 3, 24, 12), 2, berlin),
              ElementsAre("2300-03-25 01:00:00", "2300-03-26 00:30:00"));
  EXPECT_THAT(next("30 2 * * *", at(9998, 10, 24, 12), 2, berlin),
              ElementsAre("9998-10-25 00:30:00", "9998-10-26 01:30:00"));
}

/// The median of nanoseconds a call, of rounds in turns with the other.
struct cost {
  std::vector<double> rounds;
  void measure(cron const& cron, zone const& zone, timestamp after) {
    constexpr int calls = 2000;
    auto const start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) {
      auto const tick = cron.next(after, zone);
      ASSERT_TRUE(tick);
      after += tick->time_since_epoch().count() == 0 ? 1us : 0us;
    }
    std::chrono::duration<double, std::nano> const took = std::chrono::steady_clock::now() - start;
    rounds.push_back(took.count() / calls);
  }
  double median() {
    std::nth_element(rounds.begin(), rounds.begin() + 15, rounds.end());
    return rounds[15];
  }
};

TEST(cron, the_hardest_is_within_twenty_times_the_easiest) {
  zone const berlin("Europe/Berlin");
  struct hard_one {
    cron expression;
    timestamp after;
  };
  std::vector<hard_one> const hard{{"0 0 29 2 *", at(2096, 3, 1)},
                                   {"0 0 29 2 +MON", at(2072, 3, 1)},
                                   {"0 0 * 2 MON#5", at(2072, 3, 1)},
                                   {"59 59 23 L,LW,15W 2 *", at(2026, 3, 1)},
                                   {"0 0 31W,30W,L-30 12 *", at(2027, 1, 1)},
                                   {"30 2 * * FRI#5,MONL", at(2026, 2, 1)}};
  for (auto const& [expression, after] : hard) {
    cost easy;
    cost this_one;
    for (int i = 0; i < 31; ++i) {
      easy.measure("* * * * *", berlin, after);
      this_one.measure(expression, berlin, after);
    }
    auto const ratio = this_one.median() / easy.median();
    RecordProperty(std::string(expression.text()), std::to_string(ratio));
    EXPECT_LT(ratio, 20) << expression.text() << ": " << this_one.median() << " ns";
    if (std::getenv("DAYBOOK_SHOW_COST") != nullptr) {
      std::printf("%-26s %6.0f ns, %4.1f times the easiest\n",
                  std::string(expression.text()).c_str(), this_one.median(), ratio);
    }
  }
}

}  // namespace
}  // namespace daybook
