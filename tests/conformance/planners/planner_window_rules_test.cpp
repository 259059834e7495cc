// Windows whose zone's rules become others between two passes, or are others on another node: rows
// stay as they were made, and the periods on either side go on from them.
#include "conformance/planning_window.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace conformance {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using unit = window_strategy::unit;

constexpr auto two_ahead = "Etc/GMT-2";
constexpr auto three_ahead = "Etc/GMT-3";
constexpr auto one_ahead = "Etc/GMT-1";

/// In a town whose clocks are this zone's, then that one's.
class window_rules : public planning_window {
 protected:
  window_rules() {
    std::filesystem::create_directories(folder_ / "Test");
    rules(two_ahead);
    ::setenv("TZDIR", folder_.c_str(), 1);
  }
  ~window_rules() override {
    ::unsetenv("TZDIR");
    std::filesystem::remove_all(folder_);
  }

  void rules(std::string const& zone) {
    std::filesystem::copy_file("/usr/share/zoneinfo/" + zone, folder_ / "Test" / "Town",
                               std::filesystem::copy_options::overwrite_existing);
  }
  /// From 27 March on, by the first rules, unless said.
  planner town(window_strategy of = {}) {
    of.zone = "Test/Town";
    if (of.since == timestamp{}) of.since = utc(2026, 3, 26) + 22h;
    return make({.page = 2}, of);
  }
  static std::vector<std::string> keys(std::vector<daybook::plan_preview> const& of) {
    std::vector<std::string> out;
    for (auto const& one : of) out.push_back(one.key);
    return out;
  }
  /// All that is over is done, once; no instant of it is in no period, or in two.
  static void expect_whole(planner const& plan, timestamp from, timestamp to) {
    auto const grid = plan.grid({.limit = 10'000});
    std::set<std::string> seen;
    for (auto const& one : grid) {
      EXPECT_EQ(one.from, from) << one.key;
      EXPECT_EQ(one.state, period_state::done) << one.key;
      EXPECT_EQ(one.launches, 1) << one.key;
      EXPECT_TRUE(seen.insert(one.key).second) << one.key;
      from = one.to;
    }
    EXPECT_EQ(from, to);
    EXPECT_EQ(plan.watermark(), to);
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("daybook_rules_" + std::to_string(::getpid()));
};

TEST_P(window_rules, days_go_on_where_rows_end) {
  auto plan = town();
  plan.pass();
  EXPECT_THAT(work(), ElementsAre("2026-03-27", "2026-03-28", "2026-03-29"));
  rules(three_ahead);  // an hour of the 30th has a row already
  clock_.advance(48h);
  EXPECT_THAT(keys(plan.preview()), ElementsAre("2026-03-30", "2026-03-31"));
  plan.pass();
  EXPECT_EQ(export_.find(key("2026-03-30")).value().payload,
            R"({"plan": "days", "from": "2026-03-29T22:00:00Z", "to": "2026-03-30T21:00:00Z"})");
  EXPECT_THAT(work(), ElementsAre("2026-03-30", "2026-03-31"));
  rules(one_ahead);  // two hours after the 31st are in no row
  clock_.advance(48h);
  plan.pass();
  EXPECT_EQ(export_.find(key("2026-04-01")).value().payload,
            R"({"plan": "days", "from": "2026-03-31T21:00:00Z", "to": "2026-04-01T23:00:00Z"})");
  EXPECT_THAT(work(), ElementsAre("2026-04-01", "2026-04-02"));
  plan.pass();
  expect_whole(plan, utc(2026, 3, 26) + 22h, utc(2026, 4, 2) + 23h);
}

TEST_P(window_rules, days_before_the_first_row_end_where_it_begins) {
  auto const passed_since = [&](timestamp since) {
    auto plan = town({.since = since});
    EXPECT_EQ(plan.watermark(), since);
    auto const oldest_first = keys(plan.preview());
    auto newest_first = keys(town({.since = since, .newest_first = true}).preview());
    std::reverse(newest_first.begin(), newest_first.end());
    EXPECT_EQ(newest_first, oldest_first);
    plan = town({.since = since});
    plan.pass();
    EXPECT_EQ(work(), oldest_first);
    plan.pass();
    return oldest_first;
  };
  EXPECT_THAT(passed_since(utc(2026, 3, 26) + 22h), SizeIs(3));
  rules(three_ahead);
  EXPECT_THAT(passed_since(utc(2026, 3, 23) + 21h),
              ElementsAre("2026-03-24", "2026-03-25", "2026-03-26"));
  rules(one_ahead);
  EXPECT_THAT(passed_since(utc(2026, 3, 20) + 23h),
              ElementsAre("2026-03-21", "2026-03-22", "2026-03-23"));
  auto const plan = town({.since = utc(2026, 3, 20) + 23h});
  auto const grid = plan.grid();
  EXPECT_EQ(grid.at(2).to - grid.at(2).from, 22h) << "two hours of the 23rd had a row";
  EXPECT_EQ(grid.at(5).to - grid.at(5).from, 25h) << "an hour after the 26th had none";
  expect_whole(plan, utc(2026, 3, 20) + 23h, utc(2026, 3, 29) + 22h);
}

TEST_P(window_rules, where_a_plan_begins_amid_rows_none_are_made_before_them) {
  town().pass();
  EXPECT_THAT(work(), SizeIs(3));
  rules(three_ahead);
  auto plan = town({.since = utc(2026, 3, 27) + 21h});
  EXPECT_EQ(plan.pass().launched, 0);
  EXPECT_EQ(rows_of("planned_period"), "3");
  expect_whole(plan, utc(2026, 3, 27) + 22h, utc(2026, 3, 29) + 22h);
}

TEST_P(window_rules, a_grid_has_rows_as_they_stand) {
  auto plan = town();
  plan.pass();
  work();
  plan.pass();
  rules(three_ahead);
  clock_.advance(24h);
  plan = town({.since = utc(2026, 3, 24) + 21h});
  std::vector<std::string> const all{"2026-03-25 missing", "2026-03-26 missing",
                                     "2026-03-27 done",    "2026-03-28 done",
                                     "2026-03-29 done",    "2026-03-30 missing"};
  auto const grid = plan.grid();
  EXPECT_EQ(lines(grid), all);
  for (std::size_t i = 1; i < grid.size(); ++i) EXPECT_EQ(grid[i].from, grid[i - 1].to);
  EXPECT_EQ(grid.at(2).from, utc(2026, 3, 26) + 22h);
  auto const backwards = lines(plan.grid({.newest_first = true}));
  EXPECT_EQ(std::vector(backwards.rbegin(), backwards.rend()), all);
  for (int limit = 1; limit <= 6; ++limit) {
    EXPECT_EQ(lines(plan.grid({.limit = limit})), std::vector(all.begin(), all.begin() + limit));
    EXPECT_EQ(lines(plan.grid({.newest_first = true, .limit = limit})),
              std::vector(backwards.begin(), backwards.begin() + limit));
  }
  EXPECT_THAT(lines(plan.grid({.from = utc(2026, 3, 27) + 22h, .to = utc(2026, 3, 29) + 21h})),
              ElementsAre("2026-03-28 done"));
  EXPECT_THAT(plan.grid({.from = utc(2026, 3, 29) + 23h}), IsEmpty());
  EXPECT_TRUE(plan.reopen(key("2026-03-29"), anna()));
  EXPECT_EQ(plan.pass().launched, 4);
}

/// Two nodes, one of which has read newer rules.
TEST_P(window_rules, hours_are_whole_whichever_node_makes_them) {
  window_strategy const hours{.each = unit::hour, .since = utc(2026, 3, 30) + 8h};
  auto plan = town(hours);
  for (int i = 0; i < 8; ++i) {
    rules(i % 2 == 0 ? two_ahead : "Asia/Kolkata");
    clock_.advance(i % 3 == 0 ? 30min : 90min);
    plan.pass();
    work();
    plan.pass();
  }
  expect_whole(plan, hours.since, plan.grid({.newest_first = true}).at(0).to);
}

DAYBOOK_ON_EVERY_ENGINE(window_rules);

}  // namespace
}  // namespace conformance
