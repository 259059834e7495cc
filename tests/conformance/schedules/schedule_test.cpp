// Schedules: each tick once, on one of many nodes; windows that tile, whatever is skipped.
#include "conformance/scheduling.hpp"

namespace conformance {
namespace {

class scheduled : public scheduling {};

TEST_P(scheduled, a_tick_is_done_once_by_one_of_two_nodes) {
  auto const leads = make();
  serve("leads");
  EXPECT_EQ(first_.drain() + second_.drain(), 0) << "none is due at its beginning";
  for (int i = 0; i < 6; ++i) {
    clock_.advance(1min);
    auto& node = i % 3 == 0 ? first_ : second_;
    EXPECT_EQ(node.drain(), 1);
    EXPECT_EQ(first_.drain() + second_.drain(), 0);
  }
  EXPECT_EQ(done_.size(), 6U);
  expect_tiled();
  auto const info = leads.info();
  EXPECT_EQ(info.decided, noon + 6min);
  EXPECT_EQ(info.window, noon + 6min);
  EXPECT_EQ(info.next, noon + 7min);
  EXPECT_FALSE(info.running);
  auto const last = leads.find(noon + 6min).value();
  EXPECT_EQ(last.state, tick_state::done);
  EXPECT_EQ(last.run, "2026-11-21T12:06:00Z");
  EXPECT_EQ(last.launched, noon + 6min);
  auto const run = book_.find(process("leads"), key(last.run)).value();
  EXPECT_EQ(run.info.state, run_state::succeeded);
}

TEST_P(scheduled, of_those_missed_the_last_is_launched_with_the_window_of_all) {
  auto const leads = make();
  serve("leads");
  clock_.advance(5min + 30s);
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_THAT(instants(), ElementsAre(noon + 5min));
  expect_tiled();
  EXPECT_THAT(lines(leads), ElementsAre("12:05 done",
                                        "12:04 skipped 4 (missed; 2026-11-21T12:05:00Z was "
                                        "launched for it)"));
  EXPECT_EQ(leads.ticks()[1].first, noon + 1min);
}

TEST_P(scheduled, all_those_missed_are_launched_in_their_order) {
  make({.catch_up = catch_up::all});
  serve("leads");
  clock_.advance(5min);
  EXPECT_EQ(first_.drain(), 5);
  EXPECT_THAT(instants(),
              ElementsAre(noon + 1min, noon + 2min, noon + 3min, noon + 4min, noon + 5min));
  expect_tiled();
}

TEST_P(scheduled, all_has_a_limit) {
  auto const leads = make({.catch_up = catch_up::all, .max_ticks = 2});
  serve("leads");
  clock_.advance(5min);
  EXPECT_EQ(first_.drain(), 2);
  EXPECT_THAT(instants(), ElementsAre(noon + 4min, noon + 5min));
  expect_tiled();
  EXPECT_EQ(lines(leads).back(), "12:03 skipped 3 (missed; more than 2 were)");
}

TEST_P(scheduled, none_that_is_late_is_launched_where_it_should_be_skipped) {
  auto const leads = make({.catch_up = catch_up::skip, .grace = 10s});
  serve("leads");
  clock_.advance(3min + 11s);
  EXPECT_EQ(first_.drain(), 0);
  clock_.advance(59s);
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_THAT(instants(), ElementsAre(noon + 4min));
  expect_tiled();
  EXPECT_EQ(lines(leads).back(), "12:03 skipped 3 (missed)");
}

TEST_P(scheduled, a_tick_that_comes_while_another_runs_is_skipped_and_says_why) {
  auto const leads = make();
  serve("leads", [&](tick& one) {
    if (one.at() != noon + 1min) return;
    for (int i = 0; i < 3; ++i) {
      clock_.advance(1min);
      ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
      ASSERT_EQ(daybook::testing::renew(other_), daybook::lease_state::held);
      EXPECT_EQ(second_.drain(), 0);
    }
  });
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_THAT(lines(leads),
              ElementsAre("12:04 skipped 3 (2026-11-21T12:01:00Z still ran)", "12:01 done"));
  clock_.advance(1min);
  EXPECT_EQ(second_.drain(), 1);
  EXPECT_THAT(instants(), ElementsAre(noon + 1min, noon + 5min));
  expect_tiled();
}

TEST_P(scheduled, a_tick_that_comes_while_another_runs_waits_where_it_should) {
  make({.catch_up = catch_up::all, .overlap = overlap::queue});
  serve("leads", [&](tick& one) {
    if (one.at() != noon + 1min) return;
    clock_.advance(2min);
    ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
    ASSERT_EQ(daybook::testing::renew(other_), daybook::lease_state::held);
    EXPECT_EQ(second_.drain(), 0);
  });
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 3);
  EXPECT_THAT(instants(), ElementsAre(noon + 1min, noon + 2min, noon + 3min));
  expect_tiled();
}

TEST_P(scheduled, a_tick_that_fails_is_tried_again_with_its_window_and_later_ones_go_on) {
  auto const leads = make({.attempts = 3, .backoff = 90s});
  int failures = 0;
  serve("leads", [&](tick& one) {
    static_cast<void>(one.run().step("load", insert("load")));
    if (one.at() != noon + 1min) return;
    EXPECT_EQ(one.window().from, noon);
    EXPECT_EQ(one.facts().failures, failures);
    if (++failures < 3) throw std::runtime_error("the partner is away");
  });
  clock_.advance(1min);
  first_.drain();
  EXPECT_THAT(lines(leads), ElementsAre("12:01 due (the partner is away)"));
  clock_.advance(1min);
  second_.drain();
  EXPECT_THAT(instants(), ElementsAre(noon + 2min));
  clock_.advance(40s);  // 90 s and a tenth
  first_.drain();
  EXPECT_EQ(failures, 2);
  clock_.advance(200s);  // doubled
  second_.drain();
  EXPECT_EQ(failures, 3);
  auto const was = leads.find(noon + 1min).value();
  EXPECT_EQ(was.state, tick_state::done);
  EXPECT_EQ(was.failures, 2);
  EXPECT_EQ(effects("load"), "3") << "a step that is done is not done again";
}

TEST_P(scheduled, a_tick_that_fails_too_often_is_failed_until_a_person_retries_it) {
  auto leads = make({.attempts = 2, .backoff = 1s});
  bool away = true;
  serve("leads", [&](tick&) {
    if (away) throw std::runtime_error("the partner is away");
  });
  clock_.advance(1min);
  first_.drain();
  clock_.advance(2s);
  first_.drain();
  EXPECT_THAT(lines(leads), ElementsAre("12:01 failed (the partner is away)"));
  EXPECT_FALSE(leads.retry(noon + 2min, anna));
  away = false;
  EXPECT_TRUE(leads.retry(noon + 1min, anna));
  EXPECT_FALSE(leads.retry(noon + 1min, anna));
  EXPECT_EQ(second_.drain(), 1);
  EXPECT_THAT(instants(), ElementsAre(noon + 1min));
  expect_tiled();
  EXPECT_EQ(book_.changes(process("leads"), key("2026-11-21T12:01:00Z")).size(), 1U);
}

TEST_P(scheduled, another_node_takes_over_from_one_that_died_and_goes_on_with_its_steps) {
  auto const leads = make();
  int attempts = 0;
  serve("leads", [&](tick& one) {
    auto const what = one.run().step("load", insert("load")).what();
    EXPECT_EQ(what, ++attempts == 1 ? outcome::done : outcome::skipped);
    if (attempts > 1) return;
    clock_.advance(31s);  // its lease is over
    EXPECT_EQ(second_.drain(), 1);
  });
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1);
  ASSERT_EQ(done_.size(), 2U);
  EXPECT_EQ(done_[0].node, 1);
  EXPECT_EQ(done_[0].window, done_[1].window);
  EXPECT_EQ(effects("load"), "1");
  EXPECT_EQ(first_.counts().lost, 1) << "what it says afterwards does not count";
  EXPECT_EQ(second_.counts().taken_over, 1);
  auto const was = leads.find(noon + 1min).value();
  EXPECT_EQ(was.state, tick_state::done);
  EXPECT_EQ(was.crashes, 1);
}

TEST_P(scheduled, a_tick_that_kills_its_nodes_is_failed_in_the_end) {
  auto const leads = make({.crash_limit = 1});
  serve("leads", [&](tick&) {
    clock_.advance(31s);
    second_.drain();
  });
  clock_.advance(1min);
  first_.drain();
  EXPECT_EQ(done_.size(), 1U) << "the second did not call its handler";
  EXPECT_THAT(lines(leads), ElementsAre("12:01 failed (1 nodes died while they did it)"));
}

TEST_P(scheduled, nobody_takes_a_tick_over_from_itself) {
  make();
  serve("leads", [&](tick&) {
    clock_.advance(31s);
    EXPECT_EQ(first_.drain(), 0);
  });
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_EQ(first_.counts().done, 1);
}

TEST_P(scheduled, what_is_handed_back_goes_on_elsewhere_at_once) {
  auto const leads = make();
  bool stopping = true;
  serve("leads", [&](tick& one) {
    if (std::exchange(stopping, false)) one.hand_back();
  });
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1) << "who hands it back does not take it again";
  auto mine = book_.schedule("leads").value();
  EXPECT_TRUE(mine.pause(anna)) << "what runs goes on";
  EXPECT_EQ(second_.drain(), 1);
  EXPECT_EQ(done_.size(), 2U);
  EXPECT_EQ(leads.find(noon + 1min)->failures, 0);
}

TEST_P(scheduled, what_a_child_ends_as_failed_counts_as_a_failure) {
  auto const leads = make({.attempts = 2, .backoff = 10s});
  serve("leads", [&](tick& one) {
    auto child = other_.attach(one.run().token());
    EXPECT_TRUE(std::move(child.value()).fail("the child says no"));
  });
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_EQ(leads.find(noon + 1min)->state, tick_state::due);
  clock_.advance(12s);
  EXPECT_EQ(first_.drain(), 1);
  auto const was = leads.find(noon + 1min).value();
  EXPECT_EQ(was.state, tick_state::failed);
  EXPECT_EQ(was.failures, 2);
}

TEST_P(scheduled, a_death_is_counted_by_who_comes_after_the_one_that_freed_the_run) {
  auto const leads = make();
  int attempts = 0;
  serve("leads", [&](tick&) {
    if (++attempts > 1) return;
    clock_.advance(31s);
    daybook::testing::arm("launch.begun", failpoint_action::fail);  // freed, and not started
    EXPECT_THROW(second_.drain(), daybook::error);
    EXPECT_EQ(second_.drain(), 1);
  });
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_EQ(leads.find(noon + 1min)->crashes, 1);
}

TEST_P(scheduled,
       what_is_tried_again_has_its_turn_although_work_takes_longer_than_from_tick_to_tick) {
  auto const leads = make({.catch_up = catch_up::all, .overlap = overlap::queue, .backoff = 1s});
  bool away = true;
  serve("leads", [&](tick& one) {
    clock_.advance(61s);
    ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
    ASSERT_EQ(daybook::testing::renew(other_), daybook::lease_state::held);
    if (one.at() == noon + 1min && std::exchange(away, false)) throw std::runtime_error("away");
    if (one.at() == noon + 8min) one.hand_back();  // else it would never end
  });
  clock_.advance(1min);
  first_.drain();
  EXPECT_EQ(leads.find(noon + 1min)->state, tick_state::done);
}

TEST_P(scheduled, ticks_of_the_past_where_its_beginning_is_there) {
  make({.catch_up = catch_up::all, .since = noon - 3min});
  serve("leads");
  EXPECT_EQ(first_.drain(), 3);
  EXPECT_THAT(instants(), ElementsAre(noon - 2min, noon - 1min, noon));
  expect_tiled(noon - 3min);
}

TEST_P(scheduled, a_handler_may_end_the_run_itself) {
  auto const leads = make();
  serve("leads", [&](tick& one) { EXPECT_TRUE(std::move(one.run()).finish()); });
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_EQ(first_.counts().done, 1);
  EXPECT_THAT(lines(leads), ElementsAre("12:01 done"));
  EXPECT_FALSE(leads.info().running);
}

TEST_P(scheduled, a_key_that_was_done_by_hand_is_not_done_again) {
  auto const leads = make();
  serve("leads");
  clock_.advance(1min);
  EXPECT_TRUE(taken(book_.start(process("leads"), key("2026-11-21T12:01:00Z"))).finish());
  EXPECT_EQ(first_.drain(), 0);
  EXPECT_THAT(lines(leads), ElementsAre("12:01 done (a run of this key had succeeded before)"));
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1);
}

TEST_P(scheduled, a_lost_reply_neither_loses_a_tick_nor_doubles_it) {
  for (std::string const point :
       {"launch.before_commit", "launch.committed", "end.before_commit", "end.committed"}) {
    SCOPED_TRACE(point);
    done_.clear();
    auto const leads = make({}, point);
    serve(point,
          [point](tick& one) { static_cast<void>(one.run().step("load", insert(point.c_str()))); });
    clock_.advance(1min);
    daybook::testing::arm(point, failpoint_action::cut);
    try {
      first_.drain();
    } catch (daybook::error const&) {
      EXPECT_TRUE(point.starts_with("launch"));
    }
    clock_.advance(20s);
    ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
    first_.drain();
    second_.drain();
    EXPECT_EQ(effects(point), "1");
    auto const ticks = leads.ticks();
    ASSERT_EQ(ticks.size(), 1U);
    EXPECT_EQ(ticks[0].state, tick_state::done);
    clock_.advance(40s);
  }
}

TEST_P(scheduled, one_that_fails_when_it_has_launched_lets_go_of_the_tick) {
  auto const leads = make();
  serve("leads");
  clock_.advance(1min);
  daybook::testing::arm("launch.committed", failpoint_action::fail);
  EXPECT_EQ(fault_of([&] { first_.drain(); }), error_code::internal);
  EXPECT_EQ(second_.drain(), 0) << "its holder lives";
  ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  EXPECT_EQ(second_.drain(), 1);
  EXPECT_THAT(lines(leads), ElementsAre("12:01 done"));
}

DAYBOOK_ON_EVERY_ENGINE(scheduled);

}  // namespace
}  // namespace conformance
