// Steps outside the database: at least once, with the same key each time; at most once, with the
// outcome known, found out, or left to a person.
#include "conformance/fixture.hpp"
#include "conformance/waiting.hpp"

#include "base/failpoint.hpp"

#include <thread>

namespace conformance {
namespace {

using daybook::effect;
using daybook::probe_result;
using daybook::step_mode;

/// The world outside: counts what was asked of it, by key.
struct outside {
  std::map<std::string, int> calls;
  auto call() {
    return [this](effect const& with) { ++calls[with.idempotency_key()]; };
  }
  [[nodiscard]] int total() const {
    int out = 0;
    for (auto const& [key, count] : calls) out += count;
    return out;
  }
};

class modes : public on_engine {
 protected:
  modes() : other_(database_.open()), clock_(book_) {}

  /// Dies without another word: its lease is over, and it says nothing more.
  daybook::run heir_of(daybook::run dead) {
    zombies_.push_back(std::move(dead));
    clock_.advance(1h);
    return taken(other_.start(nightly_, day_));
  }
  [[nodiscard]] std::string intents() const { return rows_of("intent"); }

  daybook::book other_;
  daybook::testing::manual_clock clock_;
  outside world_;
  std::vector<daybook::run> zombies_;
};

TEST_P(modes, at_least_once_is_done_recorded_and_skipped) {
  auto run = taken(book_.start(nightly_, day_));
  auto const sent = run.at_least_once("mail", [&](effect const& with) {
    world_.call()(with);
    EXPECT_EQ(with.attempt(), 1);
    EXPECT_FALSE(with.stop().stop_requested());
    return std::string("message 7");
  });
  EXPECT_EQ(sent.what(), outcome::done);
  EXPECT_EQ(sent.value(), "message 7");
  EXPECT_TRUE(std::move(run).fail("later"));

  auto again = taken(book_.start(nightly_, day_));
  auto const skipped = again.at_least_once("mail", [&](effect const& with) {
    world_.call()(with);
    return std::string("another");
  });
  EXPECT_EQ(skipped.what(), outcome::skipped);
  EXPECT_EQ(skipped.value(), "message 7");
  EXPECT_EQ(again.value("mail"), "message 7");
  EXPECT_EQ(world_.total(), 1);
  EXPECT_EQ(seen().steps.at(0).mode, step_mode::at_least_once);
}

TEST_P(modes, at_least_once_is_repeated_with_the_same_key) {
  auto run = taken(book_.start(nightly_, day_));
  auto const key = run.idempotency_key("mail");
  EXPECT_THROW(static_cast<void>(run.at_least_once("mail",
                                                   [&](effect const& with) {
                                                     world_.call()(with);
                                                     throw std::runtime_error("no answer");
                                                   })),
               std::runtime_error);
  EXPECT_TRUE(run.at_least_once("mail2", world_.call()));
  auto heir = heir_of(std::move(run));
  EXPECT_TRUE(heir.at_least_once("mail", world_.call()));
  EXPECT_EQ(world_.calls[key], 2);
  EXPECT_EQ(world_.total(), 3);
  EXPECT_TRUE(std::move(heir).finish());
  // A fresh run is other work, and has other keys.
  auto next = taken(other_.start(nightly_, day_));
  EXPECT_NE(next.idempotency_key("mail"), key);
}

TEST_P(modes, at_least_once_lost_meanwhile_is_not_recorded) {
  auto run = taken(book_.start(nightly_, day_));
  std::optional<daybook::run> heir;
  auto const what = run.at_least_once("mail", [&](effect const& with) {
    world_.call()(with);
    clock_.advance(1h);
    heir.emplace(taken(other_.start(nightly_, day_)));
  });
  EXPECT_EQ(what.what(), outcome::lost);
  EXPECT_TRUE(run.stop().stop_requested());
  EXPECT_TRUE(heir->at_least_once("mail", world_.call()));
  EXPECT_EQ(world_.total(), 2);
  EXPECT_EQ(world_.calls.size(), 1U);
  EXPECT_EQ(rows_of("step"), "1");
}

TEST_P(modes, at_most_once_is_done_recorded_and_skipped) {
  auto run = taken(book_.start(nightly_, day_));
  auto const paid = run.at_most_once("pay", [&](effect const& with) {
    world_.call()(with);
    EXPECT_EQ(intents(), "1") << "the intent comes before the effect";
    return 42;
  });
  EXPECT_EQ(paid.what(), outcome::done);
  EXPECT_EQ(paid.value(), 42);
  EXPECT_EQ(intents(), "0");
  EXPECT_TRUE(std::move(run).fail("later"));
  auto again = taken(book_.start(nightly_, day_));
  auto const skipped = again.at_most_once("pay", [&](effect const&) { return 1; });
  EXPECT_EQ(skipped.what(), outcome::skipped);
  EXPECT_EQ(skipped.value(), 42);
  EXPECT_EQ(world_.total(), 1);
  EXPECT_EQ(seen().steps.at(0).mode, step_mode::at_most_once);
}

/// The intent is there and nobody recorded how it ended.
daybook::run begun(daybook::run run, std::string const& step) {
  if (!run.intend(step)) throw std::runtime_error("no intent");
  return run;
}

TEST_P(modes, at_most_once_cut_short_is_unknown_and_waits_for_a_person) {
  auto heir = heir_of(begun(taken(book_.start(nightly_, day_)), "pay"));
  auto const what = heir.at_most_once("pay", world_.call());
  EXPECT_EQ(what.what(), outcome::unknown);
  EXPECT_FALSE(what);
  EXPECT_EQ(world_.total(), 0);
  EXPECT_EQ(seen().info.state, run_state::unknown);
  EXPECT_TRUE(seen().intents.at(0).unknown);
  EXPECT_EQ(std::move(heir).finish().what(), outcome::lost) << "the attempt is over";
  EXPECT_EQ(other_.start(nightly_, day_).why(), start_refusal::unknown_outcome);
  EXPECT_EQ(other_.start(nightly_, day_, {.restart = true}).why(), start_refusal::unknown_outcome);
}

TEST_P(modes, a_probe_that_says_done_settles_it) {
  auto heir = heir_of(begun(taken(book_.start(nightly_, day_)), "pay"));
  auto const key = heir.idempotency_key("pay");
  auto const what = heir.at_most_once(
      "pay",
      [&](effect const& with) {
        world_.call()(with);
        return std::string("twice");
      },
      [&](effect const& with) {
        EXPECT_EQ(with.idempotency_key(), key);
        return probe_result<std::string>::done("receipt 7");
      });
  EXPECT_EQ(what.what(), outcome::done);
  EXPECT_EQ(what.value(), "receipt 7");
  EXPECT_EQ(world_.total(), 0);
  EXPECT_EQ(intents(), "0");
  EXPECT_TRUE(std::move(heir).finish());
}

TEST_P(modes, a_probe_that_says_not_done_lets_it_be_done) {
  auto heir = heir_of(begun(taken(book_.start(nightly_, day_)), "pay"));
  auto const what = heir.at_most_once("pay", world_.call(),
                                      [](effect const&) { return probe_result<void>::not_done(); });
  EXPECT_EQ(what.what(), outcome::done);
  EXPECT_EQ(world_.total(), 1);
  EXPECT_TRUE(std::move(heir).finish());
}

TEST_P(modes, a_probe_that_throws_is_asked_again_by_the_next_attempt) {
  auto heir = heir_of(begun(taken(book_.start(nightly_, day_)), "pay"));
  auto const look = [](effect const&) -> probe_result<void> {
    throw std::runtime_error("bank closed");
  };
  EXPECT_EQ(message_of([&] { static_cast<void>(heir.at_most_once("pay", world_.call(), look)); }),
            "bank closed");
  EXPECT_TRUE(std::move(heir).fail("bank closed"));
  EXPECT_EQ(seen().info.state, run_state::failed);
  auto next = taken(other_.start(nightly_, day_));
  EXPECT_TRUE(next.at_most_once("pay", world_.call(),
                                [](effect const&) { return probe_result<void>::done(); }));
  EXPECT_EQ(world_.total(), 0);
}

TEST_P(modes, a_body_that_knows_better_leaves_nothing_behind) {
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_THROW(static_cast<void>(run.at_most_once(
                   "pay", [](effect const&) { throw daybook::not_done("refused"); })),
               daybook::not_done);
  EXPECT_EQ(intents(), "0");
  EXPECT_TRUE(run.at_most_once("pay", world_.call())) << "tried again in the same attempt";
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(modes, a_body_that_throws_leaves_the_outcome_unknown) {
  auto run = taken(book_.start(nightly_, day_));
  auto const times_out = [](effect const&) { throw std::runtime_error("time-out"); };
  auto const text = message_of([&] { static_cast<void>(run.at_most_once("pay", times_out)); });
  EXPECT_EQ(text, "time-out");
  EXPECT_EQ(seen().info.state, run_state::unknown);
  EXPECT_NE(seen().info.error.find("time-out"), std::string::npos);
  EXPECT_EQ(book_.start(nightly_, day_).why(), start_refusal::unknown_outcome);
}

TEST_P(modes, a_probe_may_find_out_after_a_throw) {
  auto run = taken(book_.start(nightly_, day_));
  auto const what = run.at_most_once(
      "pay",
      [&](effect const& with) -> int {
        world_.call()(with);
        throw std::runtime_error("time-out");
      },
      [](effect const&) { return probe_result<int>::done(7); });
  EXPECT_EQ(what.what(), outcome::done);
  EXPECT_EQ(what.value(), 7);
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(modes, success_is_refused_while_an_intent_is_open) {
  auto run = begun(taken(book_.start(nightly_, day_)), "pay");
  auto const end = std::move(run).finish();
  EXPECT_EQ(end.what(), outcome::unknown);
  EXPECT_FALSE(end);
  EXPECT_EQ(seen().info.state, run_state::unknown);
  EXPECT_EQ(seen().attempts.at(0).state, run_state::unknown);
}

TEST_P(modes, a_run_dropped_with_an_open_intent_is_handed_back) {
  { auto const run = begun(taken(book_.start(nightly_, day_)), "pay"); }
  EXPECT_EQ(seen().info.state, run_state::interrupted);
  auto next = taken(book_.start(nightly_, day_));
  EXPECT_EQ(next.at_most_once("pay", world_.call()).what(), outcome::unknown);
}

TEST_P(modes, the_two_halves_of_a_step_done_elsewhere) {
  auto run = taken(book_.start(nightly_, day_));
  auto helper = other_.attach(run.token()).value();
  EXPECT_EQ(helper.intend("pay").what(), outcome::done);
  EXPECT_EQ(intents(), "1");
  EXPECT_EQ(helper.record("pay", "receipt").what(), outcome::done);
  EXPECT_EQ(intents(), "0");
  EXPECT_EQ(helper.intend("give").what(), outcome::done);
  EXPECT_EQ(helper.abandon("give").what(), outcome::done);
  EXPECT_EQ(helper.intend("give").what(), outcome::done) << "abandoned: it may be tried again";
  auto second = other_.attach(run.token()).value();
  EXPECT_EQ(second.intend("pay").what(), outcome::skipped);
  EXPECT_EQ(second.intend("give").what(), outcome::unknown);
  EXPECT_EQ(fault_of([&] { static_cast<void>(second.abandon("nothing")); }),
            error_code::bad_argument);
  EXPECT_EQ(std::move(run).fail("exit status 1").what(), outcome::unknown)
      << "a later look did not find out either";
}

TEST_P(modes, what_another_gave_up_is_not_recorded) {
  auto run = taken(book_.start(nightly_, day_));
  auto one = other_.attach(run.token()).value();
  EXPECT_EQ(one.intend("pay").what(), outcome::done);
  auto two = other_.attach(run.token()).value();
  EXPECT_EQ(two.abandon("pay").what(), outcome::done);
  EXPECT_EQ(fault_of([&] { static_cast<void>(one.record("pay")); }), error_code::bad_argument);
  EXPECT_EQ(rows_of("step"), "0");
  EXPECT_EQ(two.intend("give").what(), outcome::done);
  EXPECT_EQ(std::move(run).finish().what(), outcome::unknown) << "an intent is open";
}

TEST_P(modes, what_was_unknown_and_is_settled_leaves_nothing_behind) {
  for (bool const was_done : {true, false}) {
    key const piece{was_done ? "done" : "not done"};
    auto run = taken(book_.start(nightly_, piece));
    EXPECT_EQ(other_.attach(run.token())->intend("pay").what(), outcome::done);
    EXPECT_EQ(other_.attach(run.token())->intend("pay").what(), outcome::unknown);
    zombies_.push_back(std::move(run));
    clock_.advance(1h);
    {
      auto heir = taken(other_.start(nightly_, piece));
      EXPECT_TRUE(heir.at_most_once("pay", world_.call(), [&](effect const&) {
        return was_done ? probe_result<void>::done() : probe_result<void>::not_done();
      }));
      EXPECT_TRUE(heir.intend("give"));
    }
    EXPECT_EQ(seen(piece).info.state, run_state::interrupted) << "the next attempt may find out";
    EXPECT_TRUE(other_.start(nightly_, piece));
  }
}

TEST_P(modes, a_step_given_in_another_mode_is_refused) {
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_TRUE(run.step("one", insert("one")));
  EXPECT_TRUE(run.record("two"));
  EXPECT_TRUE(run.at_most_once("three", world_.call()));
  EXPECT_TRUE(std::move(begun(std::move(run), "four")).fail("later"));
  auto next = taken(book_.start(nightly_, day_));
  auto const text =
      message_of([&] { static_cast<void>(next.at_least_once("one", world_.call())); });
  EXPECT_NE(text.find("one"), std::string::npos) << text;
  EXPECT_NE(text.find("as tx"), std::string::npos) << text;
  EXPECT_NE(text.find("at-least-once"), std::string::npos) << text;
  EXPECT_EQ(fault_of([&] { static_cast<void>(next.step("two", insert("two"))); }),
            error_code::bad_argument);
  EXPECT_EQ(fault_of([&] { static_cast<void>(next.step("three", insert("x"))); }),
            error_code::bad_argument);
  EXPECT_EQ(fault_of([&] { static_cast<void>(next.at_least_once("four", world_.call())); }),
            error_code::bad_argument);
  EXPECT_EQ(world_.total(), 1);
}

TEST_P(modes, a_lost_reply_to_the_intent_or_the_record_is_settled) {
  for (std::string const name : {"intend", "record"}) {
    for (bool const committed : {false, true}) {
      key const piece{name + (committed ? " yes" : " no")};
      auto run = taken(book_.start(nightly_, piece));
      daybook::testing::arm(name + (committed ? ".committed" : ".before_commit"),
                            failpoint_action::cut);
      int calls = 0;
      auto const what = run.at_most_once("pay", [&](effect const&) { return ++calls; });
      EXPECT_FALSE(daybook::base::failpoint_armed);
      EXPECT_EQ(what.what(), outcome::done);
      EXPECT_EQ(what.value(), 1);
      EXPECT_EQ(calls, 1);
      EXPECT_EQ(intents(), "0");
      EXPECT_TRUE(std::move(run).finish());
    }
  }
}

TEST_P(modes, a_lost_reply_is_settled_for_a_helper_process_too) {
  for (std::string const name : {"intend", "record"}) {
    for (bool const committed : {false, true}) {
      key const piece{name + (committed ? " yes" : " no")};
      auto run = taken(book_.start(nightly_, piece));
      auto helper = other_.attach(run.token()).value();
      daybook::testing::arm(name + (committed ? ".committed" : ".before_commit"),
                            failpoint_action::cut);
      EXPECT_EQ(helper.intend("pay").what(), outcome::done);
      EXPECT_EQ(helper.record("pay").what(), outcome::done);
      EXPECT_FALSE(daybook::base::failpoint_armed);
      EXPECT_EQ(intents(), "0");
      EXPECT_TRUE(std::move(run).finish());
    }
  }
}

TEST_P(modes, nothing_new_is_begun_outside_when_this_process_was_declared_dead) {
  auto run = taken(book_.start(nightly_, day_));
  clock_.advance(1h);
  auto heir = taken(other_.start(nightly_, day_));
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::lost);
  EXPECT_EQ(run.at_most_once("pay", world_.call()).what(), outcome::lost);
  EXPECT_EQ(world_.total(), 0);
  EXPECT_TRUE(heir.at_most_once("pay", world_.call()));
  EXPECT_EQ(world_.total(), 1);
}

TEST_P(modes, a_helper_begins_nothing_outside_once_the_run_was_taken_away) {
  auto run = taken(book_.start(nightly_, day_));
  auto helper = other_.attach(run.token()).value();
  EXPECT_EQ(book_.release(nightly_, day_, {.actor = "anna", .reason = "hangs"}),
            daybook::change_outcome::changed);
  EXPECT_EQ(helper.at_least_once("mail", world_.call()).what(), outcome::lost);
  EXPECT_EQ(world_.total(), 0);
}

TEST_P(modes, a_run_that_a_person_took_is_asked_to_stop_by_the_next_renewal) {
  auto run = taken(book_.start(nightly_, day_));
  auto const kept = taken(book_.start(nightly_, key{"kept"}));
  EXPECT_EQ(other_.release(nightly_, day_, {.actor = "anna", .reason = "hangs"}),
            daybook::change_outcome::changed);
  EXPECT_FALSE(run.stop().stop_requested());
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held)
      << "the holder itself lives";
  EXPECT_TRUE(run.stop().stop_requested());
  EXPECT_FALSE(kept.stop().stop_requested());
  EXPECT_EQ(std::move(run).finish().what(), outcome::lost);
}

TEST_P(modes, progress_in_the_body_of_a_helpers_step_goes_with_the_step) {
  auto run = taken(book_.start(nightly_, day_));
  auto helper = other_.attach(run.token()).value();
  EXPECT_TRUE(helper.step("load", [&](transaction& tx) {
    helper.progress(1, 2, "half");
    insert("load")(tx);
  }));
  EXPECT_EQ(seen().info.progress->note, "half");
}

TEST_P(modes, progress_of_an_earlier_step_is_not_written_over_what_came_after_it) {
  auto run = taken(book_.start(nightly_, day_));
  auto helper = other_.attach(run.token()).value();
  EXPECT_TRUE(helper.step("load", [&](transaction&) { helper.progress(1, 2, "half"); }));
  helper.progress(2, 2, "whole");
  EXPECT_TRUE(helper.step("check", [](transaction&) {}));
  EXPECT_EQ(seen().info.progress->note, "whole");
  EXPECT_TRUE(helper.step("mark", [&](transaction&) { helper.progress(1, 3, "third"); }));
  run.progress(2, 3, "two thirds");
  EXPECT_TRUE(run.step("write", [](transaction&) {}));
  EXPECT_EQ(helper.record("mailed").what(), outcome::done);
  EXPECT_EQ(seen().info.progress->note, "two thirds");
  EXPECT_TRUE(helper.step("look", [](transaction&) {}));
  EXPECT_EQ(seen().info.progress->note, "two thirds");
}

/// Nothing was begun outside: that its holder may or may not be renewed is no doubt of the step's.
TEST_P(modes, a_lost_reply_of_the_renewal_before_a_step_outside_is_none_of_the_steps) {
  auto options = watched();
  options.lease = 6s;
  auto book = database_.open(options);
  auto run = taken(book.start(nightly_, day_));
  for (auto const* const name : {"renew.committed", "renew.before_commit"}) {
    std::this_thread::sleep_for(4100ms);  // two thirds of the lease
    daybook::testing::arm(name, failpoint_action::cut);
    EXPECT_EQ(run.at_least_once(name, world_.call()).what(), outcome::done);
    daybook::testing::disarm();
  }
  EXPECT_EQ(world_.total(), 2);
}

TEST_P(modes, an_intent_that_could_not_be_written_may_be_tried_again) {
  auto run = taken(book_.start(nightly_, day_));
  daybook::testing::arm("intend.begun", failpoint_action::fail);
  EXPECT_EQ(fault_of([&] { static_cast<void>(run.intend("pay")); }), error_code::internal);
  EXPECT_EQ(run.intend("pay").what(), outcome::done);
  EXPECT_EQ(run.record("pay").what(), outcome::done);
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(modes, an_earlier_intent_is_not_settled_by_a_mere_record) {
  EXPECT_TRUE(begun(taken(book_.start(nightly_, day_)), "pay").release("later"));
  auto next = taken(book_.start(nightly_, day_));
  for (int tries = 0; tries < 2; ++tries) {
    EXPECT_EQ(fault_of([&] { static_cast<void>(next.record("pay")); }), error_code::bad_argument);
  }
  EXPECT_EQ(intents(), "1");
}

TEST_P(modes, an_intent_of_another_with_the_same_token_is_not_taken_for_ones_own) {
  for (bool const committed : {false, true}) {
    key const piece{committed ? "yes" : "no"};
    auto run = taken(book_.start(nightly_, piece));
    auto one = other_.attach(run.token()).value();
    auto two = other_.attach(run.token()).value();
    EXPECT_EQ(two.intend("pay").what(), outcome::done);
    EXPECT_EQ(one.intend("pay").what(), outcome::unknown);
    EXPECT_EQ(two.record("pay").what(), outcome::done);
    EXPECT_TRUE(std::move(run).finish());
  }
}

TEST_P(modes, success_waits_for_an_intent_that_is_being_written) {
  if (on_sqlite()) return;  // one writer: there is no such moment
  for (bool const commits : {true, false}) {
    key const piece{commits ? "yes" : "no"};
    auto run = taken(book_.start(nightly_, piece));
    support::raw_connection child(direct_url());
    auto const where = " where run_key = '" + piece.str() + "'";
    child.execute("begin");
    child.execute("update daybook_run set open_intents = 1, version = version + 1" + where);
    child.execute(
        "insert into daybook_intent (process, run_key, run_no, name, state, attempt, epoch, token, "
        "started_us) select process, run_key, run_no, 'pay', 1, attempt, epoch, 't', 1 "
        "from daybook_run" +
        where);
    std::jthread const ends([&] {
      EXPECT_TRUE(comes_true(lock_waits())) << "finish() waits for the row";
      child.execute(commits ? "commit" : "rollback");
    });
    EXPECT_EQ(std::move(run).finish().what(), commits ? outcome::unknown : outcome::done);
    EXPECT_EQ(seen(piece).info.state, commits ? run_state::unknown : run_state::succeeded);
  }
}

DAYBOOK_ON_EVERY_ENGINE(modes);

}  // namespace
}  // namespace conformance
