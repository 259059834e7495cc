// Take-over: only from the dead, who stay dead; and the fence that holds a zombie off.
#include "conformance/fixture.hpp"
#include "conformance/waiting.hpp"
#include "service/engine.hpp"

#include <functional>

namespace conformance {
namespace {

class takeover : public on_engine {
 protected:
  takeover() : other_(database_.open()), clock_(book_) {}

  [[nodiscard]] std::string ended_how(std::string const& state) const {
    return database_.query("select count(*) from daybook_holder where ended_how = '" + state + "'");
  }

  daybook::book other_;
  daybook::testing::manual_clock clock_;
};

TEST_P(takeover, not_before_the_lease_is_over) {
  clock_.stop_at(clock_.now());
  auto run = taken(book_.start(nightly_, day_));
  clock_.advance(30s);
  EXPECT_EQ(other_.start(nightly_, day_).why(), start_refusal::running_elsewhere);
  EXPECT_EQ(ended_how("dead"), "0");
  clock_.advance(1us);
  auto heir = taken(other_.start(nightly_, day_));
  EXPECT_EQ(heir.attempt(), 2);
  EXPECT_EQ(ended_how("dead"), "1");
  ASSERT_EQ(seen().attempts.size(), 1U);
  EXPECT_EQ(seen().attempts[0].state, run_state::interrupted);
  EXPECT_EQ(seen().attempts[0].error, "its holder died");
  EXPECT_FALSE(std::move(run).finish());
}

TEST_P(takeover, a_renewal_in_time_prevents_it) {
  auto run = taken(book_.start(nightly_, day_));
  for (int i = 0; i < 3; ++i) {
    clock_.advance(20s);
    ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  }
  EXPECT_FALSE(other_.start(nightly_, day_));
  EXPECT_TRUE(run.step("load", insert("load")));
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(takeover, a_late_holder_that_nobody_missed_goes_on) {
  auto run = taken(book_.start(nightly_, day_));
  clock_.advance(1h);
  EXPECT_TRUE(run.step("load", insert("load")));
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  EXPECT_FALSE(other_.start(nightly_, day_));
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(takeover, a_renewal_between_the_look_and_the_end_saves_it) {
  // What a rival's look saw is checked again by the statement that ends the holder: its first try
  // is cut, and before the second the holder renews.
  recorder hooked;
  auto options = watched();
  options.observer = &hooked;
  auto rival = database_.open(options);
  auto run = taken(book_.start(nightly_, day_));
  clock_.advance(31s);
  hooked.on_retry = [&] { EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held); };
  daybook::testing::arm("mark_dead.begun", failpoint_action::cut);
  EXPECT_FALSE(rival.start(nightly_, day_));
  EXPECT_EQ(hooked.count("retried mark_dead"), 1U);
  EXPECT_EQ(ended_how("dead"), "0");
  EXPECT_TRUE(run.step("load", insert("load")));
}

TEST_P(takeover, dead_is_for_ever_and_the_process_goes_on_as_another) {
  auto lost = taken(book_.start(nightly_, day_));
  auto also_lost = taken(book_.start(nightly_, key{"other"}));
  clock_.advance(31s);
  auto heir = taken(other_.start(nightly_, day_));
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::lost);
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::lost);
  EXPECT_TRUE(lost.stop().stop_requested());
  EXPECT_TRUE(also_lost.stop().stop_requested());
  // The other run was not taken yet: its fence still holds, and it may end.
  EXPECT_TRUE(also_lost.step("load", insert("load")));
  EXPECT_TRUE(std::move(also_lost).finish());

  auto next = taken(book_.start(nightly_, key{"third"}));
  EXPECT_FALSE(next.stop().stop_requested());
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  EXPECT_TRUE(std::move(next).finish());
  EXPECT_EQ(rows_of("holder"), "3");
  EXPECT_EQ(ended_how("dead"), "1");
}

TEST_P(takeover, a_dead_holder_that_has_not_noticed_takes_as_another) {
  auto lost = taken(book_.start(nightly_, day_));
  clock_.advance(31s);
  auto heir = taken(other_.start(nightly_, day_));
  // No renewal in between: start() itself finds out.
  auto fresh = taken(book_.start(nightly_, key{"fresh"}));
  EXPECT_TRUE(fresh.step("load", insert("load")));
  EXPECT_TRUE(lost.stop().stop_requested());
  EXPECT_TRUE(std::move(heir).fail("no"));
  EXPECT_EQ(taken(book_.start(nightly_, day_)).attempt(), 3);
}

// Its lease looks over to everybody, but nobody has said so yet: a renewal still comes through.
TEST_P(takeover, nobody_declares_itself_dead) {
  auto run = taken(book_.start(nightly_, day_));
  auto late = taken(book_.start(nightly_, key{"late"}, {.deadline = 10s}));
  clock_.advance(31s);
  EXPECT_EQ(book_.start(nightly_, day_).why(), start_refusal::running_elsewhere);
  EXPECT_EQ(taken(book_.start(nightly_, key{"late"})).attempt(), 2);
  EXPECT_EQ(ended_how("dead"), "0");
  EXPECT_TRUE(run.step("load", insert("load")));
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(takeover, the_dead_resumes_its_own_run_as_another) {
  auto lost = taken(book_.start(nightly_, day_));
  auto also_lost = taken(book_.start(nightly_, key{"other"}));
  ASSERT_TRUE(lost.step("load", insert("load")));
  clock_.advance(31s);
  auto const heir = taken(other_.start(nightly_, key{"other"}));
  auto again = taken(book_.start(nightly_, day_));
  EXPECT_EQ(again.attempt(), 2);
  EXPECT_EQ(again.step("load", insert("load")).what(), outcome::skipped);
  EXPECT_FALSE(lost.step("zombie", insert("zombie")));
  EXPECT_TRUE(std::move(again).finish());
  EXPECT_EQ(effects("zombie"), "0");
}

TEST_P(takeover, a_clock_that_stepped_back_does_not_freeze_work) {
  auto const now = clock_.now();
  clock_.stop_at(now);
  auto run = taken(book_.start(nightly_, day_));
  // Back by less than the allowed skew: the lease holds.
  clock_.stop_at(now - 60s);
  EXPECT_FALSE(other_.start(nightly_, day_));
  clock_.stop_at(now - 61s);
  auto heir = taken(other_.start(nightly_, day_));
  EXPECT_EQ(heir.attempt(), 2);
  EXPECT_FALSE(run.step("zombie", insert("zombie")));
}

TEST_P(takeover, a_clock_that_stepped_back_does_not_hurt_one_that_renews) {
  auto run = taken(book_.start(nightly_, day_));
  clock_.advance(-1h);
  ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  EXPECT_FALSE(other_.start(nightly_, day_));
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(takeover, a_graceful_end_frees_at_once) {
  {
    auto gone = database_.open();
    auto run = taken(gone.start(nightly_, day_));
    ASSERT_TRUE(run.step("load", insert("load")));
  }
  EXPECT_EQ(ended_how("stopped"), "1");
  auto heir = taken(other_.start(nightly_, day_));
  EXPECT_EQ(heir.attempt(), 2);
  EXPECT_TRUE(heir.done("load"));
}

TEST_P(takeover, what_a_graceful_end_could_not_hand_back_is_free_too) {
  // As if the release of the run had failed: the row still names a holder that has ended.
  auto run = taken(book_.start(nightly_, day_));
  database_.execute("update daybook_holder set ended_us = 1, ended_how = 'stopped'");
  EXPECT_EQ(taken(other_.start(nightly_, day_)).attempt(), 2);
}

TEST_P(takeover, a_holder_whose_row_was_deleted_is_dead) {
  auto run = taken(book_.start(nightly_, day_));
  database_.execute("delete from daybook_holder");
  auto heir = taken(other_.start(nightly_, day_));
  EXPECT_EQ(heir.attempt(), 2);
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::lost);
  EXPECT_FALSE(run.step("zombie", insert("zombie")));
}

// A probe takes longer than a lease, and so may the intent itself: another has declared the holder
// dead meanwhile, though nobody has this run yet.
TEST_P(takeover, nothing_is_begun_outside_by_one_who_was_declared_dead_meanwhile) {
  int calls = 0;
  auto const pay = [&](daybook::effect const&) { ++calls; };
  std::vector<daybook::run> heirs;
  for (bool const by_halves : {false, true}) {
    SCOPED_TRACE(by_halves);
    key const piece(by_halves ? "halves" : "whole");
    key const beside(by_halves ? "beside halves" : "beside whole");
    recorder watching;
    auto options = watched();
    options.lease = 6s;
    options.observer = &watching;
    auto book = database_.open(options);
    auto run = taken(book.start(nightly_, piece));
    auto const also = taken(book.start(nightly_, beside));
    if (!by_halves) {
      ASSERT_TRUE(run.intend("pay"));
      ASSERT_TRUE(std::move(run).release("later"));
      run = taken(book.start(nightly_, piece));
    }
    auto const die = [&] {
      clock_.advance(1h);
      heirs.push_back(taken(other_.start(nightly_, beside)));
      auto const& lease = book.internals().lease();
      EXPECT_TRUE(comes_true([&] { return lease.peek()->since_renewal() > 4s; }));
    };
    if (by_halves) {
      watching.on_retry = die;
      daybook::testing::arm("intend.begun", failpoint_action::cut);
      EXPECT_EQ(run.intend("pay").what(), outcome::lost);
    } else {
      auto const paid = run.at_most_once("pay", pay, [&](daybook::effect const&) {
        die();
        return daybook::probe_result<void>::not_done();
      });
      EXPECT_EQ(paid.what(), outcome::lost);
    }
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(rows_of("intent"), "0") << "nobody needs to ask a person";
  }
}

class zombie : public takeover {
 protected:
  /// A run that somebody else has taken over, finished or not.
  daybook::run made_zombie() {
    auto run = taken(book_.start(nightly_, day_));
    EXPECT_TRUE(run.step("one", insert("one")));
    token_ = run.token();
    clock_.advance(31s);
    return run;
  }
  void expect_nothing_written(daybook::run_detail const& before) const {
    auto const now = seen();
    EXPECT_EQ(now.info.state, before.info.state);
    EXPECT_EQ(now.info.epoch, before.info.epoch);
    EXPECT_EQ(now.info.error, before.info.error);
    EXPECT_EQ(now.info.steps_done, before.info.steps_done);
    EXPECT_EQ(now.steps.size(), before.steps.size());
    EXPECT_EQ(now.attempts.size(), before.attempts.size());
    EXPECT_EQ(effects("zombie"), "0");
  }

  std::string token_;
};

TEST_P(zombie, writes_nothing_while_the_heir_works) {
  std::vector<std::function<bool(daybook::run&)>> const verbs{
      [](auto& run) { return static_cast<bool>(run.step("z", insert("zombie"))); },
      [](auto& run) { return static_cast<bool>(run.record("z")); },
      // What the heir has done meanwhile is not the zombie's to report.
      [](auto& run) { return static_cast<bool>(run.record("heir 5")); },
      [](auto& run) { return static_cast<bool>(std::move(run).finish()); },
      [](auto& run) { return static_cast<bool>(std::move(run).fail("zombie")); },
      [](auto& run) { return static_cast<bool>(std::move(run).release("zombie")); },
  };
  std::int64_t attempt = 1;
  for (auto const& try_it : verbs) {
    {
      auto run = taken(book_.start(nightly_, day_));
      EXPECT_EQ(run.attempt(), attempt++);
      token_ = run.token();
      clock_.advance(31s);
      auto heir = taken(other_.start(nightly_, day_));
      ++attempt;
      ASSERT_TRUE(heir.step("heir " + std::to_string(attempt - 2), insert("heir")));
      auto const before = seen();
      auto const lost = log_.count("lost");
      EXPECT_FALSE(try_it(run));
      EXPECT_EQ(log_.count("lost"), lost + 1);
      EXPECT_TRUE(run.stop().stop_requested());
      EXPECT_FALSE(book_.attach(token_));
      expect_nothing_written(before);
      EXPECT_TRUE(std::move(heir).release("next"));
    }
    static_cast<void>(daybook::testing::renew(other_));
  }
}

TEST_P(zombie, finishes_nothing_after_the_heir_has) {
  auto run = made_zombie();
  EXPECT_TRUE(taken(other_.start(nightly_, day_)).finish());
  auto const before = seen();
  EXPECT_FALSE(run.step("z", insert("zombie")));
  EXPECT_FALSE(std::move(run).fail("zombie"));
  expect_nothing_written(before);
}

TEST_P(zombie, does_not_end_the_next_run_either) {
  auto run = made_zombie();
  EXPECT_TRUE(taken(other_.start(nightly_, day_)).finish());
  auto next = taken(other_.start(nightly_, day_));
  auto const before = seen();
  EXPECT_FALSE(std::move(run).finish());
  expect_nothing_written(before);
  EXPECT_EQ(next.step("one", insert("one")).what(), outcome::done);
}

TEST_P(zombie, an_attached_one_writes_nothing) {
  auto run = taken(book_.start(nightly_, day_));
  auto attached = other_.attach(run.token()).value();
  auto second = other_.attach(run.token()).value();
  clock_.advance(31s);
  auto heir = taken(other_.start(nightly_, day_));
  ASSERT_TRUE(heir.step("two", insert("two")));
  auto const before = seen();
  EXPECT_EQ(attached.record("z").what(), outcome::lost);
  EXPECT_EQ(second.record("two").what(), outcome::lost);
  EXPECT_FALSE(std::move(attached).finish());
  expect_nothing_written(before);
}

TEST_P(zombie, in_the_middle_of_a_step_is_rolled_back) {
  // The take-over happens while the zombie's body runs. SQLite has one writer: no take-over can
  // fall in there, and the step renews the lease itself.
  if (on_sqlite()) return;
  auto run = taken(book_.start(nightly_, day_));
  auto const what = run.step("z", [&](transaction& tx) {
    insert("zombie")(tx);
    clock_.advance(31s);
    EXPECT_EQ(taken(other_.start(nightly_, day_)).attempt(), 2);
  });
  EXPECT_EQ(what.what(), outcome::lost);
  EXPECT_EQ(effects("zombie"), "0");
  EXPECT_EQ(rows_of("step"), "0");
}

TEST_P(zombie, on_sqlite_a_step_renews) {
  if (!on_sqlite()) return;
  auto run = taken(book_.start(nightly_, day_));
  clock_.advance(31s);
  EXPECT_TRUE(run.step("load", insert("load")));
  EXPECT_FALSE(other_.start(nightly_, day_));
}

DAYBOOK_ON_EVERY_ENGINE(takeover);
DAYBOOK_ON_EVERY_ENGINE(zombie);

}  // namespace
}  // namespace conformance
