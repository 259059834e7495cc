// Claims of those who lost something: a reply, or their lease.
#include "base/failpoint.hpp"

#include "conformance/handing.hpp"

#include "queue/claims/batch.hpp"
#include "queue/members/store.hpp"

#include <atomic>
#include <utility>

namespace conformance {
namespace {

using daybook::result;
using daybook::task_fetcher;
using daybook::task_state;

class queued_doubt : public handing {};

TEST_P(queued_doubt, a_claim_that_is_found_after_a_lost_reply_keeps_its_slots) {
  auto q = book_.make_queue("slots", {.rate = daybook::rate{10, 1s}});
  q.import(keys(0, 5));
  daybook::testing::arm("claim.committed", failpoint_action::cut);
  auto const batch = q.claim().value();
  ASSERT_EQ(batch.tasks().size(), 5U);
  EXPECT_EQ(batch.tasks()[4].start_delay, 400ms);
}

// Where writers take turns, a claim is committed before its tasks are read.
TEST_P(queued_doubt, a_claim_whose_tasks_could_not_be_read_is_handed_back) {
  auto q = book_.make_queue("unread");
  q.import(keys(0, 20));
  database_.execute("alter table daybook_member rename to hidden");
  EXPECT_THROW(static_cast<void>(q.claim({.limit = 10})), daybook::error);
  database_.execute("alter table hidden rename to daybook_member");
  EXPECT_EQ(q.claim({.limit = 20}).value().tasks().size(), 20U);
}

// Nor is what was ended before it: asked for again, the end says what has become of it.
TEST_P(queued_doubt, a_claim_that_fails_after_the_end_of_another_leaves_that_ended) {
  auto q = book_.make_queue("ended");
  q.import(keys(0, 20));
  for (bool const claims_again : {false, true}) {
    auto first = q.claim({.limit = 5}).value();
    for (auto const& one : first.tasks()) first.finish(one, result::success());
    daybook::testing::arm("claim.taken", failpoint_action::fail);
    EXPECT_THROW(static_cast<void>(std::move(first).complete_and_claim(10)), daybook::error);
    if (claims_again) {
      auto const turn = std::move(first).complete_and_claim(10);
      EXPECT_EQ(turn.ended, outcome::done);
      EXPECT_EQ(turn.next.value().tasks().size(), 10U);
    } else {
      EXPECT_EQ(std::move(first).complete(), outcome::done);
    }
  }
  EXPECT_EQ(q.counts().succeeded, 10);
  EXPECT_EQ(q.claim({.limit = 20}).value().tasks().size(), 10U);
}

// Else the next reclaim() of anybody makes suspects of tasks that their worker has just begun.
TEST_P(queued_doubt, a_process_that_was_declared_dead_claims_as_a_new_one) {
  auto q = book_.make_queue("late");
  auto heirs = other_.queue("late").value();
  q.import(keys(0, 4));
  auto first = q.claim({.limit = 1}).value();
  clock_.advance(1h);
  ASSERT_EQ(heirs.reclaim(), 1);
  auto second = q.claim({.limit = 1}).value();  // nothing has told it yet
  EXPECT_EQ(heirs.reclaim(), 0);
  second.finish(second.tasks()[0], result::success());
  EXPECT_EQ(std::move(second).complete(), outcome::done);
  EXPECT_EQ(std::move(first).complete(), outcome::lost);
}

// Its lease looks over to everybody, but nobody has said so yet: a renewal would still come
// through.
TEST_P(queued_doubt, nobody_declares_itself_dead) {
  auto q = book_.make_queue("renews late");
  q.import(keys(0, 2));
  auto mine = q.claim({.limit = 1}).value();
  clock_.advance(1h);
  EXPECT_EQ(q.reclaim(), 0);
  mine.finish(mine.tasks()[0], result::success());
  EXPECT_EQ(std::move(mine).complete(), outcome::done);
}

// One whose request was lost made no claim: that does not mean that nothing is due.
TEST_P(queued_doubt, the_next_claim_survives_the_reply_to_both) {
  auto q = book_.make_queue("both");
  q.import(keys(0, 6));
  std::optional<daybook::claim> now = q.claim({.limit = 2}).value();
  for (auto const* place : {"complete.before_commit", "complete.committed"}) {
    SCOPED_TRACE(place);
    daybook::testing::arm(place, failpoint_action::cut);
    for (auto const& one : now->tasks()) now->finish(one, result::success());
    auto turn = std::move(*now).complete_and_claim(2);
    daybook::testing::disarm();
    EXPECT_EQ(turn.ended, outcome::done);
    ASSERT_TRUE(turn.next);
    EXPECT_EQ(turn.next->tasks().size(), 2U);
    now = std::move(turn.next);
  }
  EXPECT_EQ(q.counts().succeeded, 4);
  EXPECT_EQ(q.counts().claims, 1);
}

// A failpoint acts once. So another thread arms it again as soon as it has acted; where that came
// too late for the second try there is another piece.
TEST_P(queued_doubt, a_piece_of_an_import_survives_several_replies) {
  auto q = book_.make_queue("twice");
  int next = 0;
  EXPECT_TRUE(comes_true([&] {
    auto const from = std::exchange(next, next + 10);
    std::atomic<bool> again = false;
    daybook::testing::arm("import.before_commit", failpoint_action::cut);
    std::jthread arms([&](std::stop_token const& stop) {
      while (daybook::base::failpoint_armed) {
        if (stop.stop_requested()) return;
      }
      daybook::testing::arm("import.before_commit", failpoint_action::cut);
      again = true;
    });
    auto const got = q.import(keys(from, next));
    arms.request_stop();
    arms.join();
    bool const twice = again && !daybook::base::failpoint_armed;
    daybook::testing::disarm();
    EXPECT_EQ(got.added + got.present, 10);
    EXPECT_EQ(q.counts().members, next);
    return twice;
  }));
}

// A claim that was in work and whose end could not be written: what its ledger knows is done.
TEST_P(queued_doubt, an_orphan_that_was_in_work_keeps_what_was_performed) {
  for (auto const mode : {daybook::step_mode::at_least_once, daybook::step_mode::at_most_once}) {
    bool const once = mode == daybook::step_mode::at_most_once;
    auto q = book_.make_queue(once ? "once" : "again", {.mode = mode});
    q.import(keys(0, 3));
    {
      auto batch = q.claim().value();
      EXPECT_EQ(batch.perform(batch.tasks()[1],
                              [&](daybook::transaction& tx) {
                                tx.exec("insert into effect(name) values (:n)", q.name());
                              }),
                outcome::done);
      auto& inside = batch.internals();
      inside.forget();
      q.internals().add_orphan(inside.id(), inside.holder(), daybook::queues::orphaned::in_work);
    }
    auto const next = q.claim();
    EXPECT_EQ(next.has_value(), !once);
    EXPECT_EQ(next ? next->tasks().size() : 2, 2U);
    EXPECT_EQ(state_of(q, "k1"), task_state::succeeded);
    EXPECT_EQ(state_of(q, "k0"), once ? task_state::unknown : task_state::running);
    EXPECT_EQ(rows_of("done"), "0");
    EXPECT_EQ(database_.query("select count(*) from effect where name = '" + q.name() + "'"), "1");
  }
}

// The claimer's end fails, and once more as it is dropped: then it is an orphan of the queue's.
TEST_P(queued_doubt, a_claim_that_cannot_be_ended_is_ended_by_the_next) {
  auto q = book_.make_queue("dropped");
  q.import(keys(0, 2));
  EXPECT_TRUE(comes_true([&] {
    daybook::testing::arm("complete.before_commit", failpoint_action::fail);
    { auto const dropped = q.claim().value(); }
    bool const failed = !daybook::base::failpoint_armed;
    daybook::testing::disarm();
    EXPECT_EQ(q.counts().claims, failed ? 1 : 0);
    auto const next = q.claim();
    EXPECT_EQ(next.value().tasks().size(), 2U);
    return failed;
  }));
}

// The same of a hand-out that stops, and of another handle that asks next.
TEST_P(queued_doubt, a_stop_that_cannot_end_its_claim_leaves_it_to_the_next) {
  for (bool const same_handle : {true, false}) {
    auto q = book_.make_queue(same_handle ? "same" : "another");
    q.import(keys(0, 2));
    {
      task_fetcher out(same_handle ? q : book_.queue(q.name()).value(), quick());
      auto one = must_come(out);
      EXPECT_EQ(one.finish(result::success()), outcome::done);
      daybook::testing::arm("complete.before_commit", failpoint_action::fail);
      out.stop();
      EXPECT_FALSE(daybook::base::failpoint_armed);
      daybook::testing::disarm();
    }
    EXPECT_EQ(q.counts().claims, 1);
    auto next = q.claim();
    ASSERT_TRUE(next);
    EXPECT_EQ(std::move(*next).complete(), outcome::done);
    EXPECT_EQ(q.counts().claims, 0);
  }
}

// By other handles, by hand-outs that sleep, and by those that never do.
TEST_P(queued_doubt, what_was_left_behind_is_found) {
  auto q = book_.make_queue("left");
  q.import(keys(0, 2));
  auto const claimed = [&] { return book_.queue("left").value().claim({.limit = 2}); };
  auto const leave_behind = [&](daybook::claim const left) {
    auto& inside = left.internals();
    inside.forget();
    book_.queue("left").value().internals().add_orphan(inside.id(), inside.holder());
  };
  leave_behind(claimed().value());
  auto in_hand = claimed();
  ASSERT_TRUE(in_hand);
  {
    task_fetcher out(q, quick());
    EXPECT_TRUE(none_comes(out));
    leave_behind(std::move(*in_hand));
    must_come(out).finish(result::success());
  }
  in_hand = claimed();
  ASSERT_EQ(in_hand.value().tasks().size(), 1U);
  auto const which = in_hand->tasks()[0].key;
  q.import(keys(10, 5000));
  task_fetcher out(q, {.batch = 10, .poll = 20ms});
  must_come(out).finish(result::success());
  leave_behind(std::move(*in_hand));
  EXPECT_TRUE(comes_true([&] {
    auto one = must_come(out);
    one.finish(result::success());
    return one.task().key == which;
  }));
  EXPECT_GT(q.counts().waiting, 0);
}

/// The database does not answer to a COMMIT, nor does it when it is asked what became of that.
void go_away(char const* at, char const* then) {
  daybook::testing::arm(at, failpoint_action::cut);
  daybook::base::arm_next_failpoint(then, failpoint_action::fail);
}

TEST_P(queued_doubt, a_flush_that_was_never_answered_is_settled_by_the_next) {
  for (auto const* place : {"flush.before_commit", "flush.committed"}) {
    SCOPED_TRACE(place);
    auto q = book_.make_queue(place + std::string(" away"));
    q.import(keys(0, 3));
    auto batch = q.claim().value();
    batch.finish(batch.tasks()[0], result::success());
    go_away(place, "flush.begun");
    EXPECT_EQ(fault_of([&] { batch.flush(); }), error_code::internal);
    batch.finish(batch.tasks()[1], result::success());
    EXPECT_TRUE(batch.flush());
    EXPECT_EQ(rows_of("done"), "2");
    batch.finish(batch.tasks()[2], result::failure("late"));
    EXPECT_TRUE(batch.flush());
    EXPECT_EQ(std::move(batch).complete(), outcome::done);
    EXPECT_EQ(q.counts().succeeded, 2);
  }
}

TEST_P(queued_doubt, an_end_that_was_never_answered_is_told_by_the_next) {
  for (bool const flushes : {false, true}) {
    for (bool const claims : {false, true}) {
      auto q = book_.make_queue(std::string(flushes ? "flushes" : "ends") + (claims ? " 1" : " 0"));
      q.import(keys(0, 4));
      auto batch = q.claim({.limit = 2}).value();
      for (auto const& one : batch.tasks()) batch.finish(one, result::success());
      if (flushes) {
        EXPECT_TRUE(batch.flush());
      }
      go_away("complete.committed", "complete.begun");
      EXPECT_EQ(fault_of([&] {
                  if (claims) {
                    static_cast<void>(std::move(batch).complete_and_claim(2));
                  } else {
                    static_cast<void>(std::move(batch).complete());
                  }
                }),
                error_code::internal);
      if (claims) {
        auto turn = std::move(batch).complete_and_claim(2);
        EXPECT_EQ(turn.ended, outcome::done);
        ASSERT_TRUE(turn.next);
        EXPECT_EQ(turn.next->tasks().size(), 2U);
      } else {
        EXPECT_EQ(std::move(batch).complete(), outcome::done);
      }
      EXPECT_EQ(q.counts().succeeded, 2);
      EXPECT_EQ(q.counts().waiting, 2);
    }
  }
}

// An effect in doubt that nobody could tell of: not done again, and no failure, whatever is said.
TEST_P(queued_doubt, an_effect_that_was_never_answered_is_there_once) {
  for (auto const* place : {"perform.before_commit", "perform.committed"}) {
    SCOPED_TRACE(place);
    for (bool const again : {true, false}) {
      auto q = book_.make_queue(std::string(again ? "again " : "failed ") + place);
      q.import(keys(0, 3));
      auto batch = q.claim().value();
      auto const perform = [&](std::size_t count) {
        std::vector<daybook::task const*> of;
        for (std::size_t i = 0; i < count; ++i) of.push_back(&batch.tasks()[i]);
        return batch.perform(of, [&](daybook::transaction& tx) {
          tx.exec("insert into effect(name) values (:n)", q.name());
        });
      };
      go_away(place, "resolve_task.begun");
      EXPECT_EQ(fault_of([&] { perform(2); }), error_code::internal);
      bool const committed = std::string_view(place) == "perform.committed";
      if (again && committed) {
        EXPECT_EQ(fault_of([&] { perform(3); }), error_code::bad_argument)
            << "two of them are over";
      }
      if (again) {
        EXPECT_EQ(perform(2), outcome::done);
        EXPECT_EQ(fault_of([&] { perform(2); }), error_code::bad_argument);
        batch.finish(batch.tasks()[2], result::success());
      } else {
        for (auto const& one : batch.tasks()) batch.finish(one, result::failure("it says"));
      }
      EXPECT_TRUE(batch.flush());
      EXPECT_EQ(effects(q.name()), again || committed ? "1" : "0");
      EXPECT_EQ(std::move(batch).complete(), outcome::done);
      EXPECT_EQ(q.counts().succeeded, again ? 3 : committed ? 2 : 0);
    }
  }
}

// Who performs shares the lock on the claim; who is in doubt waits for it.
TEST_P(queued_doubt, a_doubt_keeps_no_other_task_waiting) {
  if (on_sqlite()) return;  // one writer
  auto q = book_.make_queue("settled");
  q.import(keys(0, 3));
  auto batch = q.claim().value();
  auto const& tasks = batch.tasks();
  daybook::testing::arm("perform.committed", failpoint_action::cut);
  EXPECT_EQ(batch.perform(tasks[0], [](daybook::transaction&) {}), outcome::done);
  EXPECT_FALSE(daybook::base::failpoint_armed);
  EXPECT_EQ(batch.perform(tasks[1],
                          [&](daybook::transaction&) {
                            batch.finish(tasks[2], result::success());
                            EXPECT_TRUE(batch.flush());
                          }),
            outcome::done);
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(q.counts().succeeded, 3);
}

// The second of two would do again what the first has had done.
TEST_P(queued_doubt, what_is_asked_for_with_a_lost_reply_is_asked_for_once) {
  auto q = book_.make_queue("asked");
  q.import(keys(0, 3));
  auto const finish = [&] {
    std::size_t count = 0;
    while (auto batch = q.claim()) {
      for (auto const& one : batch->tasks()) batch->finish(one, result::success());
      count += batch->tasks().size();
      EXPECT_EQ(std::move(*batch).complete(), outcome::done);
    }
    return count;
  };
  auto const requests = [&] { return database_.query("select count(*) from daybook_request"); };
  EXPECT_EQ(finish(), 3U);
  daybook::audit_note const anna{.actor = "anna", .reason = "once more"};
  for (std::string const place : {"before_commit", "committed"}) {
    SCOPED_TRACE(place);
    daybook::testing::arm("ask." + place, failpoint_action::cut);
    EXPECT_TRUE(q.retry(key("k1")));
    EXPECT_EQ(requests(), "1");
    EXPECT_EQ(finish(), 1U);
    daybook::testing::arm("ask." + place, failpoint_action::cut);
    EXPECT_EQ(q.ask(task_state::succeeded, daybook::task_request::retry, anna), 3);
    EXPECT_EQ(requests(), "3");
    EXPECT_EQ(finish(), 3U);
    daybook::testing::arm("operate." + place, failpoint_action::cut);
    EXPECT_TRUE(q.set_priority(key("k2"), 3, anna));
    EXPECT_EQ(requests(), "1");
    EXPECT_EQ(finish(), 0U);
  }
  EXPECT_EQ(q.changes(key("k2")).size(), 2U);
  EXPECT_FALSE(q.retry(key("nobody")));
  EXPECT_EQ(database_.query("select count(*) from daybook_claim"), "1") << "the last one's mark";
}

// A claim that was taken back is known for a day. After that only a holder that was never declared
// dead can tell. An hour later than that day: both may fall in one millisecond.
TEST_P(queued_doubt, of_a_claim_that_nobody_remembers_nobody_knows_the_end) {
  struct {
    char const* cut;
    bool taken_back;
    std::chrono::hours later;
    outcome became;
  } const cases[] = {{"complete.committed", false, 26h, outcome::done},
                     {"complete.committed", true, 1h, outcome::done},
                     {"complete.before_commit", true, 1h, outcome::lost},
                     {"complete.before_commit", true, 26h, outcome::unknown},
                     {"complete.committed", true, 26h, outcome::unknown}};
  int next = 0;
  for (auto const& one : cases) {
    SCOPED_TRACE(next);
    auto q = book_.make_queue("claims " + std::to_string(next++));
    auto heirs = other_.queue(q.name()).value();
    q.import(keys(0, 2));
    auto const other_claim = q.claim({.limit = 1}).value();
    auto batch = q.claim({.limit = 1}).value();
    batch.finish(batch.tasks()[0], result::success());
    go_away(one.cut, "complete.begun");
    EXPECT_EQ(fault_of([&] { std::move(batch).complete(); }), error_code::internal);
    clock_.advance(1h);
    if (one.taken_back) {
      EXPECT_GT(heirs.reclaim(), 0);
    }
    clock_.advance(one.later - 1h);
    heirs.upkeep();
    EXPECT_EQ(std::move(batch).complete(), one.became);
  }
}

DAYBOOK_ON_EVERY_ENGINE(queued_doubt);

}  // namespace
}  // namespace conformance
