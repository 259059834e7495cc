// How the calendar is cut, where clocks are changed too.
#include "planner/periods.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace daybook {
inline namespace v1 {
namespace planners {
namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""us;
using std::chrono::duration_cast;
using std::chrono::minutes;
using testing::ElementsAre;
using unit = window_strategy::unit;

timestamp day(int year, unsigned month, unsigned day) {
  return std::chrono::sys_days{std::chrono::year{year} / std::chrono::month{month} /
                               std::chrono::day{day}};
}

periods of(unit each, std::string const& zone, int count = 1) {
  return periods({.each = each, .count = count, .zone = zone});
}

/// "KEY MINUTES" of each that begins in [from, to).
std::vector<std::string> all(periods const& periods, timestamp from, timestamp to) {
  std::vector<std::string> out;
  for (auto one = periods.from(from); one.start < to; one = periods.after(one)) {
    out.push_back(one.key + " " +
                  std::to_string(duration_cast<minutes>(one.end - one.start).count()));
  }
  return out;
}

TEST(periods, days_are_as_long_as_clocks_make_them) {
  EXPECT_THAT(all(of(unit::day, "Europe/Berlin"), day(2026, 3, 27) + 23h, day(2026, 3, 30)),
              ElementsAre("2026-03-28 1440", "2026-03-29 1380", "2026-03-30 1440"));
  EXPECT_THAT(all(of(unit::day, "America/New_York"), day(2026, 11, 1), day(2026, 11, 3)),
              ElementsAre("2026-11-01 1500", "2026-11-02 1440"));
  EXPECT_THAT(all(of(unit::day, "Australia/Lord_Howe"), day(2026, 4, 3), day(2026, 4, 6)),
              ElementsAre("2026-04-04 1440", "2026-04-05 1470", "2026-04-06 1440"));
  EXPECT_THAT(all(of(unit::day, "Asia/Kathmandu"), day(2026, 4, 3), day(2026, 4, 5)),
              ElementsAre("2026-04-04 1440", "2026-04-05 1440"));
  EXPECT_EQ(of(unit::day, "Asia/Kathmandu").at(day(2026, 4, 4)).start,
            day(2026, 4, 3) + 18h + 15min);
  EXPECT_EQ(of(unit::day, "UTC").at(day(1969, 12, 31) + 1h).key, "1969-12-31");
}

TEST(periods, a_day_that_is_skipped_whole_is_none) {
  EXPECT_THAT(all(of(unit::day, "Pacific/Apia"), day(2011, 12, 29), day(2012, 1, 1)),
              ElementsAre("2011-12-29 1440", "2011-12-31 1440", "2012-01-01 1440"));
  EXPECT_THAT(all(of(unit::month, "Pacific/Apia"), day(2011, 12, 1), day(2012, 2, 1)),
              ElementsAre("2011-12 43200", "2012-01 44640", "2012-02 41760"));
}

TEST(periods, a_day_begins_where_its_midnight_is_skipped_or_comes_twice) {
  EXPECT_THAT(all(of(unit::day, "Asia/Beirut"), day(2026, 3, 27), day(2026, 3, 30)),
              ElementsAre("2026-03-28 1440", "2026-03-29 1380", "2026-03-30 1440"));
  EXPECT_EQ(of(unit::day, "Asia/Beirut").at(day(2026, 3, 29)).start, day(2026, 3, 28) + 22h);
  // Set back to 23:00 of the day before: at midnight, and at 00:01, when the next had begun.
  EXPECT_THAT(all(of(unit::day, "America/Asuncion"), day(2024, 3, 22), day(2024, 3, 25)),
              ElementsAre("2024-03-22 1440", "2024-03-23 1500", "2024-03-24 1440"));
  EXPECT_THAT(all(of(unit::day, "America/St_Johns"), day(2010, 11, 6), day(2010, 11, 8)),
              ElementsAre("2010-11-06 1440", "2010-11-07 1500"));
}

TEST(periods, months_and_years_end) {
  EXPECT_THAT(all(of(unit::month, "Europe/Berlin"), day(2026, 9, 30), day(2027, 1, 1)),
              ElementsAre("2026-10 44700", "2026-11 43200", "2026-12 44640", "2027-01 44640"));
  EXPECT_THAT(all(of(unit::day, "UTC"), day(2027, 12, 31), day(2028, 1, 2)),
              ElementsAre("2027-12-31 1440", "2028-01-01 1440"));
  EXPECT_THAT(all(of(unit::day, "UTC"), day(2028, 2, 28), day(2028, 3, 2)),
              ElementsAre("2028-02-28 1440", "2028-02-29 1440", "2028-03-01 1440"));
  EXPECT_EQ(of(unit::month, "UTC").at(day(1, 1, 1)).key, "0001-01");
}

TEST(periods, an_hour_that_comes_twice_is_two) {
  EXPECT_THAT(all(of(unit::hour, "Europe/Berlin"), day(2026, 10, 24) + 23h, day(2026, 10, 25) + 3h),
              ElementsAre("2026-10-25T01+02:00 60", "2026-10-25T02+02:00 60",
                          "2026-10-25T02+01:00 60", "2026-10-25T03+01:00 60"));
  EXPECT_THAT(all(of(unit::hour, "Europe/Berlin"), day(2026, 3, 29), day(2026, 3, 29) + 2h),
              ElementsAre("2026-03-29T01+01:00 60", "2026-03-29T03+02:00 60"));
  EXPECT_THAT(all(of(unit::minute, "Europe/Berlin", 15), day(2026, 10, 25) + 45min,
                  day(2026, 10, 25) + 75min),
              ElementsAre("2026-10-25T02:45+02:00 15", "2026-10-25T02:00+01:00 15"));
  EXPECT_EQ(of(unit::hour, "America/St_Johns").at(day(2026, 1, 1) + 30min).key,
            "2025-12-31T21-03:30");
}

TEST(periods, half_an_hour_that_is_skipped_or_repeated_cuts_its_hour) {
  EXPECT_THAT(
      all(of(unit::hour, "Australia/Lord_Howe"), day(2026, 4, 4) + 14h, day(2026, 4, 4) + 17h),
      ElementsAre("2026-04-05T01+11:00 60", "2026-04-05T01+10:30 30", "2026-04-05T02+10:30 60",
                  "2026-04-05T03+10:30 60"));
  EXPECT_THAT(
      all(of(unit::hour, "Australia/Lord_Howe"), day(2026, 10, 3) + 14h, day(2026, 10, 3) + 17h),
      ElementsAre("2026-10-04T01+10:30 60", "2026-10-04T02+11:00 30", "2026-10-04T03+11:00 60"));
}

TEST(periods, those_of_more_than_an_hour_are_as_long_as_clocks_make_them) {
  EXPECT_THAT(
      all(of(unit::minute, "Europe/Berlin", 120), day(2026, 10, 24) + 22h, day(2026, 10, 25) + 3h),
      ElementsAre("2026-10-25T00:00+02:00 120", "2026-10-25T02:00+02:00 180"));
  EXPECT_THAT(
      all(of(unit::minute, "Europe/Berlin", 120), day(2026, 3, 28) + 23h, day(2026, 3, 29) + 4h),
      ElementsAre("2026-03-29T00:00+01:00 120", "2026-03-29T03:00+02:00 60",
                  "2026-03-29T04:00+02:00 120"));
}

TEST(periods, clocks_whose_name_alone_changes_cut_nothing) {
  EXPECT_THAT(all(of(unit::minute, "Europe/Dublin", 45), day(1968, 10, 26) + 23h,
                  day(1968, 10, 27) + 30min),
              ElementsAre("1968-10-27T00:00+01:00 45", "1968-10-27T00:45+01:00 45"));
}

/// Whatever is asked for the period of an instant, or goes on from one, sees the same: no gap, no
/// overlap, no key twice.
void expect_tiles(periods const& periods, timestamp from, int count, std::string const& label) {
  std::set<std::string> keys;
  auto one = periods.from(from);
  for (int i = 0; i < count; ++i) {
    auto const next = periods.after(one);
    ASSERT_LT(one.start, one.end) << label << " " << one.key;
    ASSERT_EQ(one.end, next.start) << label << " " << one.key;
    ASSERT_TRUE(keys.insert(one.key).second) << label << " " << one.key;
    for (auto const within : {one.start, one.end - 1us, one.start + (one.end - one.start) / 2}) {
      ASSERT_EQ(periods.at(within).key, one.key) << label;
      ASSERT_EQ(periods.at(within).start, one.start) << label << " " << one.key;
    }
    ASSERT_EQ(periods.before(next).start, one.start) << label << " " << one.key;
    ASSERT_EQ(periods.from(one.start).key, one.key) << label;
    ASSERT_EQ(periods.from(one.start + 1us).key, next.key) << label;
    one = next;
  }
}

TEST(periods, tile_in_every_zone_that_is_odd) {
  struct stretch {
    char const* zone;
    timestamp from;
  };
  for (auto const& [zone, from] :
       {stretch{"America/New_York", day(2026, 10, 25)}, stretch{"Europe/Berlin", day(2026, 3, 20)},
        stretch{"Europe/Berlin", day(1893, 3, 20)}, stretch{"Europe/Dublin", day(1971, 10, 20)},
        stretch{"Europe/Moscow", day(1919, 6, 20)},
        stretch{"Australia/Lord_Howe", day(2026, 3, 28)},
        stretch{"Pacific/Apia", day(2011, 12, 20)}, stretch{"Pacific/Kwajalein", day(1993, 8, 10)},
        stretch{"America/Juneau", day(1867, 10, 10)}, stretch{"America/St_Johns", day(2010, 11, 1)},
        stretch{"Asia/Kathmandu", day(1985, 12, 25)}, stretch{"Africa/Casablanca", day(2026, 2, 1)},
        stretch{"Africa/Monrovia", day(1972, 1, 1)}, stretch{"Antarctica/Troll", day(2026, 3, 20)},
        stretch{"UTC", day(2026, 12, 25)}}) {
    expect_tiles(of(unit::month, zone), from, 40, zone);
    expect_tiles(of(unit::day, zone), from, 400, zone);
    expect_tiles(of(unit::hour, zone), from, 500, zone);
    for (int const count : {1, 7 + 1, 45, 90, 360, 720}) {
      expect_tiles(of(unit::minute, zone, count), from, count < 10 ? 3000 : 500, zone);
    }
  }
}

/// "KEY MINUTES" of all in [from, to), which are the same in either order.
std::vector<std::string> walked(periods const& periods, timestamp from, timestamp to) {
  auto const in_order = [&](bool newest_first) {
    std::vector<std::string> out;
    walk over(periods, from, to, newest_first);
    while (auto const one = over.next()) {
      out.push_back(one->key + " " +
                    std::to_string(duration_cast<minutes>(one->end - one->start).count()));
    }
    return out;
  };
  auto const out = in_order(false);
  auto const newest_first = in_order(true);
  EXPECT_EQ(std::vector(newest_first.rbegin(), newest_first.rend()), out);
  return out;
}

TEST(periods, go_on_where_rows_end) {
  auto const after = [](period const& row) {
    return walked(periods({}, std::nullopt, row), row.end, day(2026, 4, 3));
  };
  EXPECT_THAT(after({day(2026, 3, 31), day(2026, 4, 1), "2026-03-31"}),
              ElementsAre("2026-04-01 1440", "2026-04-02 1440"));
  EXPECT_THAT(after({day(2026, 3, 31), day(2026, 4, 1) + 1h, "2026-03-31"}),
              ElementsAre("2026-04-01 1380", "2026-04-02 1440"));
  EXPECT_THAT(after({day(2026, 3, 31), day(2026, 4, 1) - 1h, "2026-03-31"}),
              ElementsAre("2026-04-01 1500", "2026-04-02 1440"));
  EXPECT_THAT(after({day(2026, 3, 31), day(2026, 4, 1), "2026-04-01"}),
              ElementsAre("2026-04-02 2880"))
      << "a day that is one no more";
  EXPECT_THAT(after({day(2026, 4, 1) + 2h, day(2026, 4, 1) + 3h, "of other rules"}),
              ElementsAre("2026-04-02 2700"))
      << "there may be a row of the 1st before it";
  EXPECT_THAT(walked(periods({}, std::nullopt,
                             period{day(2026, 3, 31), day(2026, 4, 1) - 1h, "2026-03-31"}),
                     day(2026, 4, 1), day(2026, 4, 4)),
              ElementsAre("2026-04-02 1440", "2026-04-03 1440"));
}

TEST(periods, end_where_rows_begin) {
  auto const before = [](period const& row) {
    return walked(periods({}, row, std::nullopt), day(2026, 3, 30), row.start);
  };
  EXPECT_THAT(before({day(2026, 4, 1), day(2026, 4, 2), "2026-04-01"}),
              ElementsAre("2026-03-30 1440", "2026-03-31 1440"));
  EXPECT_THAT(before({day(2026, 4, 1) - 1h, day(2026, 4, 2), "2026-04-01"}),
              ElementsAre("2026-03-30 1440", "2026-03-31 1380"));
  EXPECT_THAT(before({day(2026, 4, 1) + 1h, day(2026, 4, 2), "2026-04-01"}),
              ElementsAre("2026-03-30 1440", "2026-03-31 1500"));
  EXPECT_THAT(before({day(2026, 4, 1) + 2h, day(2026, 4, 1) + 3h, "of other rules"}),
              ElementsAre("2026-03-30 1440", "2026-03-31 1560"));
  EXPECT_THAT(before({day(2026, 3, 30), day(2026, 3, 31), "2026-03-30"}), testing::IsEmpty());
}

TEST(periods, are_counted_before_they_are_cut) {
  EXPECT_EQ(of(unit::day, "UTC").about(day(2026, 1, 1), day(2027, 1, 1)), 365);
  EXPECT_EQ(of(unit::minute, "UTC", 15).about(day(2026, 1, 1), day(2026, 1, 2)), 96);
  EXPECT_EQ(of(unit::day, "UTC").about(day(2027, 1, 1), day(2026, 1, 1)), 0);
}

}  // namespace
}  // namespace planners
}  // namespace v1
}  // namespace daybook
