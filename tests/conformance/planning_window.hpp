// A plan of days in Berlin, where one has 23 hours, for the suites about windows.
#pragma once

#include "conformance/fixture.hpp"

#include <daybook/planner.hpp>

#include <map>
#include <set>

#include <gmock/gmock.h>

namespace conformance {

using daybook::launch_rule;
using daybook::pass_report;
using daybook::period_info;
using daybook::period_state;
using daybook::planner;
using daybook::planner_options;
using daybook::task_state;
using daybook::timestamp;
using daybook::window_strategy;

inline timestamp utc(int year, unsigned month, unsigned day) {
  return std::chrono::sys_days{std::chrono::year{year} / std::chrono::month{month} /
                               std::chrono::day{day}};
}

class planning_window : public on_engine {
 protected:
  planning_window() { clock_.stop_at(utc(2026, 3, 30) + 10h); }

  /// From 27 March on; clocks go forward in the night to the 29th.
  static window_strategy days(window_strategy of = {}) {
    if (of.zone == "UTC") of.zone = "Europe/Berlin";
    if (of.since == timestamp{}) of.since = utc(2026, 3, 26) + 12h;
    return of;
  }
  planner make(planner_options of = {}, window_strategy window = {}) {
    of.queue = "export";
    of.strategy = days(window);
    return book_.make_planner("days", of);
  }
  /// Claims all that is due, and ends each as said; the keys in the order they came.
  std::vector<std::string> work(
      std::function<daybook::result(std::string const&)> const& how = succeeds) {
    std::vector<std::string> out;
    while (auto batch = export_.claim()) {
      for (auto const& one : batch->tasks()) {
        out.push_back(one.key);
        batch->finish(one, how(one.key));
      }
      EXPECT_EQ(std::move(*batch).complete(), outcome::done);
    }
    return out;
  }
  static daybook::result succeeds(std::string const&) { return daybook::result::success(); }
  static daybook::result fails(std::string const&) {
    return daybook::result::failure("the partner is away");
  }
  /// "2026-03-27 done".
  static std::vector<std::string> lines(std::vector<period_info> const& of) {
    std::vector<std::string> out;
    for (auto const& one : of) out.push_back(one.key + " " + std::string(word_of(one.state)));
    return out;
  }
  static daybook::audit_note anna() { return {.actor = "anna", .reason = "a test"}; }

  daybook::testing::manual_clock clock_{book_};
  daybook::queue export_{book_.make_queue("export", {.attempts = 1})};
};

}  // namespace conformance
