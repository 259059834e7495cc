// What became of a transaction of the application's: found out by the next call, by confirm() when
// its end is known, and by resolve() when it is not.
#include "conformance/adopt.hpp"
#include "conformance/waiting.hpp"

#include <thread>

namespace conformance {
namespace {

using daybook::commit_outcome;

class joined_doubt : public adoption {
 protected:
  void step_in_transaction(daybook::run& of, char const* name) {
    begin();
    ASSERT_EQ(of.step(*adoption::join(), name, insert(name)).what(), outcome::done);
  }
};

TEST_P(joined_doubt, the_next_call_finds_a_commit) {
  auto run = taken(book_.start(nightly_, day_));
  step_in_transaction(run, "one");
  app_.execute("commit");
  EXPECT_FALSE(run.done("one")) << "nobody has looked yet";
  EXPECT_EQ(run.step("two", insert("two")).what(), outcome::done);
  EXPECT_TRUE(run.done("one"));
  EXPECT_EQ(log_.count("step_done nightly/2026-11-21:one"), 1U);
  EXPECT_EQ(fault_of([&] { static_cast<void>(run.step("one", insert("one"))); }),
            error_code::bad_argument);
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(joined_doubt, the_next_call_finds_a_rollback_and_the_name_is_free_again) {
  auto run = taken(book_.start(nightly_, day_));
  step_in_transaction(run, "one");
  app_.execute("rollback");
  step_in_transaction(run, "one");
  app_.execute("rollback");
  EXPECT_EQ(run.step("one", insert("one")).what(), outcome::done);
  EXPECT_EQ(effects("one"), "1");
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(joined_doubt, an_end_finds_it_too) {
  auto run = taken(book_.start(nightly_, day_));
  step_in_transaction(run, "one");
  app_.execute("commit");
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_EQ(seen().steps.size(), 1U);
}

TEST_P(joined_doubt, is_resolved_when_it_is_over) {
  for (bool const commits : {true, false}) {
    key const piece{commits ? "yes" : "no"};
    auto run = taken(book_.start(nightly_, piece));
    auto const before = run.epoch();
    step_in_transaction(run, "one");
    app_.execute(commits ? "commit" : "rollback");
    EXPECT_EQ(run.resolve(), commits ? commit_outcome::committed : commit_outcome::rolled_back);
    EXPECT_EQ(run.epoch(), before + 1) << "what has not committed by now never will";
    EXPECT_EQ(run.done("one"), commits);
    begin();
    auto end = std::move(run).finish(*adoption::join());
    app_.execute(commits ? "commit" : "rollback");
    EXPECT_EQ(end.resolve(), commits ? commit_outcome::committed : commit_outcome::rolled_back);
    EXPECT_EQ(seen(piece).info.state, commits ? run_state::succeeded : run_state::ready);
    if (commits) continue;
    EXPECT_TRUE(std::move(end).take_back().release("done with it"));
  }
}

TEST_P(joined_doubt, resolving_waits_for_a_transaction_that_lives_on) {
  // The application's connection broke at COMMIT, but its old session is still there: a mere read
  // would find nothing, and a moment later it would be there.
  for (bool const commits : {true, false}) {
    key const piece{commits ? "yes" : "no"};
    auto run = taken(book_.start(nightly_, piece));
    step_in_transaction(run, "one");
    std::jthread const old_session([&] {
      if (on_sqlite()) {
        // SQLite does not tell who waits. Were this pause too short, the test would be easier, and
        // not wrong.
        std::this_thread::sleep_for(20ms);
      } else {
        EXPECT_TRUE(comes_true(lock_waits()));
      }
      app_.execute(commits ? "commit" : "rollback");
    });
    EXPECT_EQ(run.resolve(), commits ? commit_outcome::committed : commit_outcome::rolled_back);
    EXPECT_TRUE(std::move(run).finish());
  }
  EXPECT_EQ(effects("one"), "1");
}

TEST_P(joined_doubt, a_pending_end_that_is_dropped_is_what_its_transaction_made_of_it) {
  for (bool const commits : {true, false}) {
    key const piece{commits ? "yes" : "no"};
    auto run = taken(book_.start(nightly_, piece));
    begin();
    {
      auto const end = std::move(run).finish(*adoption::join());
      EXPECT_TRUE(end);
      app_.execute(commits ? "commit" : "rollback");
    }
    EXPECT_EQ(seen(piece).info.state, commits ? run_state::succeeded : run_state::interrupted);
  }
}

TEST_P(joined_doubt, an_end_that_is_not_accepted_says_why) {
  auto run = taken(book_.start(nightly_, day_));
  ASSERT_TRUE(run.intend("pay"));
  begin();
  auto end = std::move(run).finish(*adoption::join());
  EXPECT_FALSE(end);
  EXPECT_EQ(end.what(), outcome::unknown);
  app_.execute("rollback");
  EXPECT_EQ(end.confirm(), commit_outcome::rolled_back);
  EXPECT_EQ(end.resolve(), commit_outcome::rolled_back);
  EXPECT_TRUE(std::move(end).take_back().release("a person looks"));
}

TEST_P(joined_doubt, of_two_transactions_each_has_an_end_of_its_own) {
  auto run = taken(book_.start(nightly_, day_));
  step_in_transaction(run, "one");
  app_.execute("commit");
  step_in_transaction(run, "two");
  app_.execute("rollback");
  EXPECT_EQ(run.confirm(), commit_outcome::rolled_back);
  EXPECT_TRUE(run.done("one"));
  EXPECT_FALSE(run.done("two"));
  EXPECT_EQ(run.step("two", insert("two")).what(), outcome::done);
  step_in_transaction(run, "three");
  app_.execute("commit");
  step_in_transaction(run, "four");
  app_.execute("rollback");
  EXPECT_EQ(run.resolve(), commit_outcome::rolled_back);
  EXPECT_TRUE(run.done("three"));
  EXPECT_FALSE(run.done("four"));
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(joined_doubt, a_carried_value_between_does_not_hide_a_commit) {
  auto run = taken(book_.start(nightly_, day_));
  step_in_transaction(run, "one");
  app_.execute("commit");
  daybook::testing::arm("carry.committed", failpoint_action::cut);
  EXPECT_TRUE(run.set_value("cursor", "7"));
  EXPECT_EQ(run.confirm(), commit_outcome::committed);
  EXPECT_TRUE(run.done("one"));
}

TEST_P(joined_doubt, a_helper_process_cannot_resolve) {
  auto const run = taken(book_.start(nightly_, day_));
  auto helper = book_.attach(run.token()).value();
  step_in_transaction(helper, "one");
  app_.execute("commit");
  EXPECT_EQ(fault_of([&] { static_cast<void>(helper.resolve()); }), error_code::bad_argument);
  EXPECT_EQ(helper.confirm(), commit_outcome::committed);
}

DAYBOOK_ON_EVERY_ENGINE(joined_doubt);

}  // namespace
}  // namespace conformance
