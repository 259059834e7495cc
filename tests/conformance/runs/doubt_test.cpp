// The reply to a COMMIT is lost: whether it had committed or not, the answer is right, and the
// effect is there once. `cut` at NAME.before_commit is a COMMIT that never arrived, at
// NAME.committed one whose reply was lost.
#include "conformance/fixture.hpp"
#include "conformance/waiting.hpp"

#include "base/failpoint.hpp"

#include <array>
#include <atomic>
#include <thread>

namespace conformance {
namespace {

constexpr std::array<bool, 2> both{false, true};

std::string place(std::string const& name, bool committed) {
  return name + (committed ? ".committed" : ".before_commit");
}

class doubt : public on_engine {
 protected:
  static void cut(std::string const& failpoint) {
    daybook::testing::arm(failpoint, failpoint_action::cut);
  }
  /// It was hit: nothing is armed any more.
  static void expect_hit() { EXPECT_FALSE(daybook::base::failpoint_armed); }
};

TEST_P(doubt, of_a_start) {
  for (bool const committed : both) {
    key const piece{committed ? "yes" : "no"};
    cut(place("start", committed));
    auto run = taken(book_.start(nightly_, piece));
    expect_hit();
    EXPECT_EQ(run.number(), 1);
    EXPECT_EQ(run.attempt(), 1);
    EXPECT_TRUE(run.step("load", insert("load")));
    EXPECT_TRUE(std::move(run).finish());
    EXPECT_EQ(seen(piece).attempts.size(), 1U);
    EXPECT_EQ(seen(piece).info.attempt, 1);
  }
  EXPECT_EQ(effects("load"), "2");
}

/// No doubt of the COMMIT's, but nobody has the run in hand; its holder lives.
TEST_P(doubt, of_a_start_that_fails_when_it_has_committed) {
  auto other = database_.open();
  auto const fail_at = [&](key const& piece) {
    daybook::testing::arm("start.committed", failpoint_action::fail);
    EXPECT_EQ(fault_of([&] { static_cast<void>(book_.start(nightly_, piece)); }),
              error_code::internal);
    EXPECT_EQ(other.start(nightly_, piece).why(), start_refusal::running_elsewhere);
  };
  fail_at(key{"again"});
  EXPECT_TRUE(taken(book_.start(nightly_, key{"again"})).finish());
  fail_at(key{"by another"});
  ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  EXPECT_TRUE(taken(other.start(nightly_, key{"by another"})).finish());
}

TEST_P(doubt, of_a_start_that_resumes_or_comes_after_a_success) {
  for (bool const committed : both) {
    key const piece{committed ? "yes" : "no"};
    auto first = taken(book_.start(nightly_, piece));
    ASSERT_TRUE(first.step("load", insert("load")));
    EXPECT_TRUE(std::move(first).fail("no"));
    cut(place("start", committed));
    auto second = taken(book_.start(nightly_, piece));
    expect_hit();
    EXPECT_EQ(second.number(), 1);
    EXPECT_EQ(second.attempt(), 2);
    EXPECT_EQ(second.step("load", insert("load")).what(), outcome::skipped);
    EXPECT_TRUE(std::move(second).finish());
    cut(place("start", committed));
    auto third = taken(book_.start(nightly_, piece));
    EXPECT_EQ(third.number(), 2);
    EXPECT_EQ(third.attempt(), 1);
    EXPECT_FALSE(third.done("load"));
    EXPECT_TRUE(std::move(third).finish());
  }
}

TEST_P(doubt, of_a_restart_or_a_start_once) {
  for (bool const committed : both) {
    key const piece{committed ? "yes" : "no"};
    cut(place("start", committed));
    EXPECT_TRUE(taken(book_.start(nightly_, piece, {.once = true})).fail("no"));
    cut(place("start", committed));
    auto run = taken(book_.start(nightly_, piece, {.restart = true}));
    EXPECT_EQ(run.number(), 2);
    EXPECT_EQ(run.attempt(), 1);
    EXPECT_TRUE(std::move(run).finish());
    EXPECT_EQ(seen(piece).info.number, 2);
  }
}

TEST_P(doubt, of_a_step) {
  auto run = taken(book_.start(nightly_, day_));
  for (bool const committed : both) {
    for (auto const fence : {daybook::fence_position::last, daybook::fence_position::first}) {
      auto const name = "s" + std::to_string(committed) + std::to_string(static_cast<int>(fence));
      auto const before = run.epoch();
      int calls = 0;
      cut(place("step", committed));
      auto const what = run.step(name, {.fence = fence}, [&](transaction& tx) {
        insert("load")(tx);
        return ++calls;
      });
      expect_hit();
      EXPECT_EQ(what.what(), outcome::done);
      EXPECT_EQ(calls, committed ? 1 : 2);
      EXPECT_EQ(what.value(), calls);
      EXPECT_GT(run.epoch(), before);
    }
  }
  EXPECT_EQ(effects("load"), "4");
  EXPECT_EQ(log_.count("doubt_resolved step yes"), 2U);
  EXPECT_EQ(log_.count("doubt_resolved step no"), 2U);
  EXPECT_EQ(log_.count("step_done"), 4U);
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_EQ(seen().steps.size(), 4U);
  EXPECT_EQ(seen().attempts.size(), 1U);
}

TEST_P(doubt, of_a_step_whose_effect_was_done_is_no_doubt) {
  auto run = taken(book_.start(nightly_, day_));
  for (std::string const where : {"step.begun", "step.effect_done"}) {
    cut(where);
    EXPECT_EQ(run.step(where, insert("load")).what(), outcome::done);
    expect_hit();
  }
  EXPECT_EQ(effects("load"), "2");
  EXPECT_EQ(log_.count("doubt_resolved"), 0U);
  EXPECT_GE(log_.count("retried step"), 1U);
}

TEST_P(doubt, of_an_end) {
  for (bool const committed : both) {
    for (std::string const how : {"finish", "fail", "release", "drop"}) {
      key const piece{how + std::to_string(committed)};
      {
        auto run = taken(book_.start(nightly_, piece));
        cut(place("end", committed));
        if (how == "finish") {
          EXPECT_TRUE(std::move(run).finish());
        } else if (how == "fail") {
          EXPECT_TRUE(std::move(run).fail("why"));
        } else if (how == "release") {
          EXPECT_TRUE(std::move(run).release("why"));
        }
      }
      expect_hit();
      ASSERT_EQ(seen(piece).attempts.size(), 1U) << piece.str();
      auto const expected = how == "finish" ? run_state::succeeded
                            : how == "fail" ? run_state::failed
                                            : run_state::interrupted;
      EXPECT_EQ(seen(piece).attempts[0].state, expected);
      EXPECT_EQ(seen(piece).info.state, expected);
    }
  }
  // A dropped run asks no question: whatever the lost COMMIT did, the run is let go of.
  EXPECT_EQ(log_.count("doubt_resolved end yes"), 3U);
  EXPECT_EQ(log_.count("doubt_resolved end no"), 3U);
  EXPECT_EQ(log_.count("lost"), 0U);
}

TEST_P(doubt, of_a_record) {
  auto run = taken(book_.start(nightly_, day_));
  for (bool const committed : both) {
    // A doubt of the owner's own makes the tokens that it gave out void.
    auto attached = book_.attach(run.token()).value();
    for (auto* const by : {&attached, &run}) {
      auto const name = (by == &run ? "own" : "attached") + std::to_string(committed);
      cut(place("record", committed));
      EXPECT_EQ(by->record(name).what(), outcome::done) << name;
      expect_hit();
    }
  }
  EXPECT_EQ(seen().steps.size(), 4U);
  EXPECT_EQ(seen().info.steps_done, 4);
}

TEST_P(doubt, is_not_what_another_has_recorded) {
  auto run = taken(book_.start(nightly_, day_));
  auto attached = book_.attach(run.token()).value();
  EXPECT_EQ(attached.record("mailed").what(), outcome::done);
  EXPECT_EQ(run.record("mailed").what(), outcome::done);
  EXPECT_EQ(run.record("filed").what(), outcome::done);  // no transaction was left open
  EXPECT_EQ(seen().info.steps_done, 2);
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(doubt, of_becoming_a_holder) {
  for (bool const committed : both) {
    auto other = database_.open();
    cut(place("register", committed));
    EXPECT_TRUE(taken(other.start(nightly_, key{std::to_string(committed)})).finish());
    expect_hit();
  }
  EXPECT_EQ(rows_of("holder"), "2");
}

TEST_P(doubt, of_a_take_over) {
  daybook::testing::manual_clock clock(book_);
  auto other = database_.open(watched());
  for (std::string const name : {"mark_dead", "free"}) {
    for (bool const committed : both) {
      key const piece{name + std::to_string(committed)};
      auto zombie = taken(book_.start(nightly_, piece));
      ASSERT_TRUE(zombie.step("one", insert("one")));
      clock.advance(31s);
      cut(place(name, committed));
      auto heir = taken(other.start(nightly_, piece));
      expect_hit();
      EXPECT_EQ(heir.attempt(), 2);
      EXPECT_TRUE(heir.done("one"));
      EXPECT_FALSE(zombie.step("two", insert("two")));
      EXPECT_TRUE(std::move(heir).finish());
      EXPECT_EQ(seen(piece).attempts.size(), 2U);
    }
  }
  EXPECT_EQ(effects("two"), "0");
  // Whether the one whose reply was lost had freed it, nobody asks.
  EXPECT_GE(log_.count("taken_over"), 3U);
  EXPECT_LE(log_.count("taken_over"), 4U);
}

TEST_P(doubt, of_a_renewal) {
  auto run = taken(book_.start(nightly_, day_));
  for (bool const committed : both) {
    cut(place("renew", committed));
    try {
      EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
    } catch (daybook::error const& e) {
      EXPECT_TRUE(e.in_doubt());
    }
    expect_hit();
    EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  }
  EXPECT_TRUE(run.step("load", insert("load")));
  EXPECT_FALSE(run.stop().stop_requested());
}

TEST_P(doubt, of_the_end_of_a_holder) {
  daybook::testing::manual_clock clock(book_);
  for (bool const committed : both) {
    {
      auto gone = database_.open();
      auto run = taken(gone.start(nightly_, day_));
      EXPECT_TRUE(std::move(run).fail("no"));
      cut(place("stop", committed));
    }
    expect_hit();
    clock.advance(31s);
    EXPECT_TRUE(taken(book_.start(nightly_, day_)).fail("next"));
  }
}

TEST_P(doubt, of_what_settles_a_doubt) {
  // Two replies lost in a row: first the step's, then that of the transaction that asks about it.
  // A failpoint is armed as soon as the first was hit; where that was too late, once more.
  auto run = taken(book_.start(nightly_, day_));
  int rounds = 0;
  for (bool const first : both) {
    for (bool const second : both) {
      for (bool met = false; !met && rounds < 100; ++rounds) {
        auto const name = "s" + std::to_string(rounds);
        cut(place("step", first));
        std::jthread const arming([&] {
          while (daybook::base::failpoint_armed) {
          }
          cut(place("resolve", second));
        });
        auto const what = run.step(name, [&](transaction& tx) {
          insert("load")(tx);
          return std::int64_t{rounds};
        });
        EXPECT_EQ(what.what(), outcome::done);
        EXPECT_EQ(what.value(), rounds);
        met = !daybook::base::failpoint_armed;
        daybook::testing::disarm();
      }
    }
  }
  EXPECT_LT(rounds, 100);
  EXPECT_EQ(effects("load"), std::to_string(rounds));
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_EQ(seen().steps.size(), static_cast<std::size_t>(rounds));
}

TEST_P(doubt, is_settled_only_when_the_old_transaction_has_ended) {
  // The old backend outlives the lost connection: another session stands for it. It has queued
  // for the run's row, gets it when the step's own connection is cut, and commits (or rolls back)
  // later. A look at the table in between would find nothing and run the step twice.
  if (on_sqlite()) return;  // the file's lock goes with its process
  for (bool const commits : both) {
    auto const name = commits ? "late" : "never";
    key const piece{name};
    auto run = taken(book_.start(nightly_, piece));
    support::raw_connection old_backend(direct_url());
    std::jthread stands;
    std::atomic<bool> holds = false;
    int calls = 0;
    auto const waits = lock_waits();
    cut("step.before_commit");
    auto const body = [&](transaction& tx) {
      if (calls++ > 0) {
        insert(name)(tx);
        return;
      }
      stands = std::jthread([&] {
        old_backend.execute("begin");
        old_backend.execute(
            "update daybook_run set state = 8, steps_done = steps_done + 1 "
            "where run_key = '" +
            piece.str() + "'");
        old_backend.execute(
            "insert into daybook_step (process, run_key, run_no, name, seq, attempt, epoch, "
            "acquisition, ended_us, value) select process, run_key, run_no, 'load', steps_done, "
            "attempt, epoch, acquisition, 1, '' from daybook_run where run_key = '" +
            piece.str() + "'");
        old_backend.execute("insert into effect values ('" + piece.str() + "')");
        holds = true;
        EXPECT_TRUE(comes_true(waits));  // who settles the doubt
        old_backend.execute(commits ? "commit" : "rollback");
      });
      EXPECT_TRUE(comes_true(waits)) << "for the row, which this step has";
    };
    auto const what = run.step("load", {.fence = daybook::fence_position::first}, body);
    EXPECT_TRUE(holds);
    EXPECT_EQ(what.what(), outcome::done);
    EXPECT_EQ(calls, commits ? 1 : 2);
    EXPECT_EQ(effects(name), "1");
    stands.join();
    EXPECT_TRUE(std::move(run).finish());
  }
  EXPECT_EQ(log_.count("doubt_resolved step yes"), 1U);
  EXPECT_EQ(log_.count("doubt_resolved step no"), 1U);
}

TEST_P(doubt, of_a_run_that_was_taken_over_meanwhile) {
  // The reply is lost, and before it is settled somebody else has the run.
  if (on_sqlite()) return;
  daybook::testing::manual_clock clock(book_);
  auto other = database_.open();
  auto run = taken(book_.start(nightly_, day_));
  cut("step.before_commit");
  std::atomic<bool> taken_over = false;
  auto const what = run.step("load", [&](transaction& tx) {
    insert("zombie")(tx);
    clock.advance(31s);
    EXPECT_TRUE(taken(other.start(nightly_, day_)).release("next"));
    taken_over = true;
  });
  EXPECT_TRUE(taken_over);
  EXPECT_EQ(what.what(), outcome::lost);
  EXPECT_EQ(effects("zombie"), "0");
  daybook::testing::disarm();
}

/// Whatever is cut, or fails, on the way of a whole piece of work: each effect is there once.
class every_failpoint : public doubt {
 protected:
  /// One that is given up first, by a body that knows, and whose probe knows what was done.
  static bool at_most_once(daybook::run& run) {
    try {
      static_cast<void>(run.at_most_once(
          "given up", [](daybook::effect const&) { throw daybook::not_done("refused"); },
          [](daybook::effect const&) { return daybook::probe_result<void>::not_done(); }));
    } catch (daybook::not_done const&) {
      return static_cast<bool>(run.at_most_once(
          "pay", [](daybook::effect const&) {},
          [](daybook::effect const&) { return daybook::probe_result<void>::done(); }));
    }
    return false;
  }

  /// Migrates, starts, does a step, records one, finishes; true when all went through.
  bool whole_piece(std::string const& prefix) {
    try {
      auto options = watched();
      options.prefix = prefix;
      auto book = database_.open(options);
      auto attempt = book.start(nightly_, day_, {.once = true});
      if (!attempt) return attempt.why() == start_refusal::done_before;
      auto run = std::move(attempt).take();
      bool const done = run.step("load", insert(prefix.c_str())) && run.record("mailed") &&
                        at_most_once(run) && run.set_value("cursor", "7") &&
                        daybook::testing::renew(book) == daybook::lease_state::held;
      book.attach(run.token()).value().progress(1, 2);
      return done && std::move(run).finish();
    } catch (daybook::error const&) {
      return false;
    }
  }
};

TEST_P(every_failpoint, leaves_each_effect_once) {
  int number = 0;
  for (auto const action : {failpoint_action::cut, failpoint_action::fail}) {
    for (auto const name : daybook::testing::failpoints(daybook::testing::failpoint_room::runs)) {
      if (name.starts_with("mark_dead") || name.starts_with("free")) continue;
      if (name.starts_with("resolve") || name.starts_with("stop")) continue;
      // Of attempts that end otherwise: modes_test.cpp, deadline_test.cpp, errors_test.cpp.
      if (name.starts_with("unknown") || name.starts_with("deadline")) continue;
      if (name.starts_with("disown")) continue;
      if (name.starts_with("operate")) continue;  // operate_test.cpp
      SCOPED_TRACE(std::string(name) + (action == failpoint_action::cut ? " cut" : " fails"));
      auto const prefix = "f" + std::to_string(number++) + "_";
      daybook::testing::arm(name, action);
      bool const at_once = whole_piece(prefix);
      expect_hit();
      if (!at_once) {
        // Its holder ended with its book: nothing has to be waited for.
        EXPECT_TRUE(whole_piece(prefix));
      }
      // A lost reply is not the caller's business, but for that of a renewal by hand.
      if (action == failpoint_action::cut && !name.starts_with("renew")) {
        EXPECT_TRUE(at_once);
      }
      EXPECT_EQ(effects(prefix), "1");
      EXPECT_EQ(database_.query("select count(*) from " + prefix + "step"), "3");
      EXPECT_EQ(database_.query("select state from " + prefix + "run"), "0");
    }
  }
}

DAYBOOK_ON_EVERY_ENGINE(doubt);
DAYBOOK_ON_EVERY_ENGINE(every_failpoint);

}  // namespace
}  // namespace conformance
