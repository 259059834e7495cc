// start(): what it takes, what it refuses and how it says so.
#include "conformance/fixture.hpp"

namespace conformance {
namespace {

class start : public on_engine {};

TEST_P(start, a_fresh_key_is_run_one_attempt_one) {
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_EQ(run.number(), 1);
  EXPECT_EQ(run.attempt(), 1);
  EXPECT_FALSE(run.resumed());
  EXPECT_FALSE(run.done("load"));
  EXPECT_EQ(run.process_name(), nightly_);
  EXPECT_EQ(run.run_key(), day_);
  EXPECT_FALSE(run.stop().stop_requested());
  EXPECT_EQ(seen().info.state, run_state::ready);
  EXPECT_TRUE(seen().info.holder_alive);
}

TEST_P(start, busy_says_who_since_when_and_until_when) {
  daybook::testing::manual_clock clock(book_);
  auto const noon =
      daybook::timestamp(std::chrono::sys_days(std::chrono::year(2026) / 11 / 21)) + 12h;
  clock.stop_at(noon);
  auto run = taken(book_.start(nightly_, day_));
  clock.advance(5s);
  ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  auto other = database_.open();
  auto const busy = other.start(nightly_, day_);
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.why(), start_refusal::running_elsewhere);
  ASSERT_TRUE(busy.holder());
  EXPECT_EQ(busy.holder()->pid, ::getpid());
  EXPECT_EQ(busy.holder()->holder.size(), 36U);
  EXPECT_FALSE(busy.holder()->node.empty());
  EXPECT_EQ(busy.holder()->since, noon);
  EXPECT_EQ(busy.holder()->until, noon + 5s + 30s);
  EXPECT_EQ(busy.holder()->in_hand, "");
  EXPECT_EQ(rows_of("attempt"), "0");
}

/// What the message of the fault that `what` ends with says; all are of one kind.
template <class F>
std::string complaint_of(F&& what) {
  try {
    what();
  } catch (daybook::error const& e) {
    EXPECT_EQ(e.kind(), error_code::bad_argument) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST_P(start, a_run_that_was_refused_cannot_be_taken) {
  auto other = database_.open();
  auto const complaint = [&](daybook::start_options options = {}) {
    return complaint_of([&] {
      auto refused = other.start(nightly_, day_, options);
      EXPECT_FALSE(refused);
      auto const run = std::move(refused).take();
    });
  };
  auto const expect_names = [&](std::string const& text, std::string_view reason) {
    EXPECT_NE(text.find(nightly_.str() + " / " + day_.str()), std::string::npos) << text;
    EXPECT_NE(text.find(reason), std::string::npos) << text;
    EXPECT_NE(text.find("Test the answer"), std::string::npos) << text;
  };
  auto attempt = book_.start(nightly_, day_);
  auto const granted = complaint_of([&] { static_cast<void>(attempt.why()); });
  EXPECT_NE(granted.find("granted"), std::string::npos) << granted;
  auto run = std::move(attempt).take();
  expect_names(complaint(), "process " + std::to_string(::getpid()) + " on ");
  ASSERT_TRUE(std::move(run).finish());
  expect_names(complaint({.once = true}), "done before");
}

TEST_P(start, a_run_that_was_moved_away_says_so) {
  auto run = taken(book_.start(nightly_, day_));
  auto const now_here = std::move(run);
  // NOLINTBEGIN(bugprone-use-after-move): that is what is tried
  EXPECT_FALSE(run);
  for (auto const& text : {complaint_of([&] { static_cast<void>(run.number()); }),
                           complaint_of([&] { static_cast<void>(run.step("one", insert("a"))); }),
                           complaint_of([&] { static_cast<void>(run.record_async("one")); }),
                           complaint_of([&] { static_cast<void>(std::move(run).finish()); })}) {
    EXPECT_NE(text.find("moved from"), std::string::npos) << text;
  }
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(now_here.number(), 1);
}

TEST_P(start, a_step_that_was_not_done_has_no_value) {
  auto run = taken(book_.start(nightly_, day_));
  auto other = database_.open();
  ASSERT_EQ(other.release(nightly_, day_, {"me", "to see"}), daybook::change_outcome::changed);
  auto const lost = run.step("count", [](transaction&) { return std::int64_t{7}; });
  EXPECT_EQ(lost.what(), outcome::lost);
  auto const text = complaint_of([&] { static_cast<void>(lost.value()); });
  EXPECT_NE(text.find("no value"), std::string::npos) << text;
  auto const unknown = daybook::probe_result<std::int64_t>::unknown();
  EXPECT_EQ(fault_of([&] { static_cast<void>(unknown.value()); }), error_code::bad_argument);
}

TEST_P(start, busy_names_the_step_in_hand_of_that_very_run) {
  auto first = taken(book_.start(nightly_, day_));
  auto second = taken(book_.start(nightly_, key{"other"}));
  auto other = database_.open();
  ASSERT_TRUE(second.step("elsewhere", insert("a")));
  ASSERT_TRUE(first.step("load 100 %", [&](transaction&) {
    // SQLite's one writer is this step: nobody sees what it renews before it ends.
    if (on_sqlite()) return;
    EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
    auto const busy = other.start(nightly_, day_);
    ASSERT_TRUE(busy.holder());
    EXPECT_EQ(busy.holder()->in_hand, "load 100 %");
    EXPECT_EQ(seen().info.holder->in_hand, "load 100 %");
    EXPECT_EQ(other.start(nightly_, key{"other"}).holder()->in_hand, "");
  }));
}

TEST_P(start, our_own_process_is_busy_too) {
  auto run = taken(book_.start(nightly_, day_));
  auto const again = book_.start(nightly_, day_);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.why(), start_refusal::running_elsewhere);
  EXPECT_EQ(again.holder()->pid, ::getpid());
  EXPECT_TRUE(run.step("still ours", insert("a")));
}

TEST_P(start, after_a_success_the_next_run_has_no_steps_done) {
  for (int number = 1; number <= 3; ++number) {
    auto run = taken(book_.start(nightly_, day_));
    EXPECT_EQ(run.number(), number);
    EXPECT_EQ(run.attempt(), 1);
    EXPECT_EQ(run.step("load", insert("load")).what(), outcome::done);
    EXPECT_TRUE(std::move(run).finish());
  }
  EXPECT_EQ(effects("load"), "3");
  EXPECT_EQ(seen().attempts.size(), 3U);
  EXPECT_EQ(seen().steps.size(), 1U);
  EXPECT_EQ(seen().info.steps_done, 1);
}

TEST_P(start, once_is_refused_after_a_success_and_never_before) {
  daybook::start_options const once{.once = true};
  auto run = taken(book_.start(nightly_, day_, once));
  EXPECT_TRUE(std::move(run).fail("no"));
  EXPECT_TRUE(taken(book_.start(nightly_, day_, once)).attempt() == 2);
  EXPECT_TRUE(taken(book_.start(nightly_, day_, once)).finish());
  auto const again = book_.start(nightly_, day_, once);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.why(), start_refusal::done_before);
  EXPECT_FALSE(again.holder());
  EXPECT_EQ(seen().info.number, 1);
  // A later run that failed does not undo the success.
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).fail("no"));
  EXPECT_EQ(book_.start(nightly_, day_, once).why(), start_refusal::done_before);
  EXPECT_TRUE(book_.start(nightly_, key{"other"}, once));
}

TEST_P(start, restart_is_a_fresh_run) {
  {
    auto run = taken(book_.start(nightly_, day_));
    ASSERT_TRUE(run.step("load", insert("load")));
    EXPECT_TRUE(std::move(run).fail("no"));
  }
  auto run = taken(book_.start(nightly_, day_, {.restart = true}));
  EXPECT_EQ(run.number(), 2);
  EXPECT_EQ(run.attempt(), 1);
  EXPECT_EQ(run.step("load", insert("load")).what(), outcome::done);
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_EQ(effects("load"), "2");
}

TEST_P(start, restart_takes_nothing_from_a_live_holder) {
  auto run = taken(book_.start(nightly_, day_));
  auto other = database_.open();
  EXPECT_EQ(other.start(nightly_, day_, {.restart = true}).why(), start_refusal::running_elsewhere);
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(start, resumed_after_fail_release_and_drop) {
  std::int64_t attempt = 1;
  auto const resumed = [&] {
    auto run = taken(book_.start(nightly_, day_));
    EXPECT_EQ(run.number(), 1);
    EXPECT_EQ(run.attempt(), attempt++);
    auto const what = run.step("load", insert("load")).what();
    EXPECT_EQ(what, attempt == 2 ? outcome::done : outcome::skipped);
    EXPECT_TRUE(run.done("load"));
    return run;
  };
  EXPECT_TRUE(resumed().fail("the printer is on fire"));
  EXPECT_EQ(seen().info.state, run_state::failed);
  EXPECT_EQ(seen().info.error, "the printer is on fire");
  EXPECT_TRUE(resumed().release("lunch"));
  EXPECT_EQ(seen().info.state, run_state::interrupted);
  EXPECT_EQ(seen().info.error, "lunch");
  { auto const dropped = resumed(); }
  EXPECT_EQ(seen().info.state, run_state::interrupted);
  EXPECT_TRUE(resumed().finish());
  EXPECT_EQ(seen().info.error, "");
  EXPECT_EQ(effects("load"), "1");
  auto const history = seen().attempts;
  ASSERT_EQ(history.size(), 4U);
  EXPECT_EQ(history[0].state, run_state::failed);
  EXPECT_EQ(history[1].state, run_state::interrupted);
  EXPECT_EQ(history[2].error, "let go without an end");
  EXPECT_EQ(history[3].state, run_state::succeeded);
}

TEST_P(start, one_that_a_person_gave_up_starts_afresh) {
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).fail("no"));
  database_.execute("update daybook_run set state = -5");
  EXPECT_EQ(taken(book_.start(nightly_, day_)).number(), 2);
}

TEST_P(start, an_unknown_outcome_waits_for_a_person) {
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).fail("no"));
  database_.execute("update daybook_run set state = -4");
  auto const answer = book_.start(nightly_, day_, {.restart = true});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.why(), start_refusal::unknown_outcome);
}

TEST_P(start, finish_from_a_run_without_steps) {
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).finish());
  EXPECT_EQ(seen().info.state, run_state::succeeded);
  EXPECT_EQ(seen().info.steps_done, 0);
}

TEST_P(start, processes_and_prefixes_are_independent) {
  auto run = taken(book_.start(nightly_, day_));
  auto weekly = taken(book_.start(process{"weekly"}, day_));
  auto options = support::fresh_database::manual();
  options.prefix = "other_";
  auto other = database_.open(options);
  auto elsewhere = taken(other.start(nightly_, day_));
  EXPECT_EQ(elsewhere.step("load", insert("other")).what(), outcome::done);
  EXPECT_TRUE(std::move(elsewhere).finish());
  EXPECT_TRUE(std::move(weekly).finish());
  EXPECT_EQ(run.step("load", insert("one")).what(), outcome::done);
  EXPECT_EQ(seen().steps.size(), 1U);
  EXPECT_EQ(database_.query("select count(*) from other_step"), "1");
}

DAYBOOK_ON_EVERY_ENGINE(start);

}  // namespace
}  // namespace conformance
