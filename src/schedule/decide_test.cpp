// What is due, without a database: the same for every node that knows the same.
#include "schedule/decide.hpp"

#include <gtest/gtest.h>

namespace daybook {
inline namespace v1 {
namespace schedules {
namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""s;

constexpr timestamp noon = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + 12h;

definition minutely() {
  definition out;
  out.when = cron("* * * * *");
  out.in = zone();
  out.decided = noon;
  out.window = noon;
  return out;
}

TEST(decide, launches_a_tick_at_its_instant_and_not_before) {
  auto const of = minutely();
  EXPECT_TRUE(decide(of, noon + 1min - std::chrono::microseconds{1}).nothing());
  auto const what = decide(of, noon + 1min);
  EXPECT_EQ(what.launch, noon + 1min);
  EXPECT_FALSE(what.skip);
}

TEST(decide, never_goes_behind_what_was_decided) {
  auto of = minutely();
  of.decided = noon + 3h;  // the clock was set back since
  EXPECT_TRUE(decide(of, noon + 2h).nothing());
  EXPECT_EQ(decide(of, noon + 3h + 1min).launch, noon + 3h + 1min);
}

TEST(decide, counts_what_it_skips) {
  auto const what = decide(minutely(), noon + 10min + 5s);
  EXPECT_EQ(what.launch, noon + 10min);
  ASSERT_TRUE(what.skip);
  EXPECT_EQ(what.skip->first, noon + 1min);
  EXPECT_EQ(what.skip->last, noon + 9min);
  EXPECT_EQ(what.skip->count, 9);
}

TEST(decide, does_not_count_for_ever) {
  auto of = minutely();
  of.when = cron("* * * * * *");
  auto const what = decide(of, noon + 24h * 3);
  ASSERT_TRUE(what.skip);
  EXPECT_EQ(what.skip->count, most_counted);
  EXPECT_EQ(what.skip->last, noon + 24h * 3 - 1s);
}

TEST(decide, in_line_what_was_late_before_the_one_that_runs_was_launched_waits) {
  auto of = minutely();
  of.options.catch_up = catch_up::all;
  of.decided = noon + 1min;
  of.running = noon + 1min;
  of.running_since = noon + 5min;
  EXPECT_TRUE(decide(of, noon + 6min).nothing()) << "12:02 comes first, and was not late for 12:01";
  of.running_since = noon + 1min + 1s;
  auto const what = decide(of, noon + 2min);
  EXPECT_FALSE(what.launch);
  ASSERT_TRUE(what.skip);
  EXPECT_TRUE(what.skip->goes_on);
}

TEST(decide, nothing_while_it_is_paused) {
  auto of = minutely();
  of.state = schedule_state::paused;
  EXPECT_TRUE(decide(of, noon + 1min).nothing());
}

TEST(decide, launches_at_the_edge_of_its_grace) {
  auto of = minutely();
  of.options.catch_up = catch_up::skip;
  of.options.grace = 10s;
  EXPECT_EQ(decide(of, noon + 1min + 10s).launch, noon + 1min);
  EXPECT_FALSE(decide(of, noon + 1min + 11s).launch);
}

TEST(decide, of_many_that_are_due_the_newest_that_may_be_launched) {
  auto of = minutely();
  of.options.catch_up = catch_up::all;
  of.options.max_ticks = 3;
  EXPECT_EQ(decide(of, noon + 2min).launch, noon + 1min);
  EXPECT_EQ(decide(of, noon + 3min).launch, noon + 1min);
  auto const what = decide(of, noon + 4min);
  EXPECT_EQ(what.launch, noon + 2min);
  EXPECT_EQ(what.skip->last, noon + 1min);
}

TEST(tick_text, is_as_short_as_it_may_be) {
  EXPECT_EQ(text_of(noon), "2026-11-21T12:00:00Z");
  EXPECT_EQ(text_of(noon + std::chrono::microseconds{5}), "2026-11-21T12:00:00.000005Z");
  EXPECT_EQ(text_of(timestamp{}), "1970-01-01T00:00:00Z");
}

}  // namespace
}  // namespace schedules
}  // namespace v1
}  // namespace daybook
