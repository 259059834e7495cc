// Handlers of many tasks at once, and the inline worker.
#include "conformance/working.hpp"

#include <atomic>
#include <thread>

namespace conformance {
namespace {

class working_inline : public working {};

TEST_P(working_inline, batches_finish_one_by_one_and_what_has_no_result_has_failed) {
  auto q = book_.make_queue("batches", {.attempts = 1});
  q.import(keys(0, 4));
  node pool(book_);
  std::atomic<int> calls = 0;
  pool.work_in_batches("batches", [&](job_batch& all) {
    ++calls;
    if (all.size() < 4) return all.hand_back_rest();
    EXPECT_NE(all.idempotency_key(0), all.idempotency_key(1));
    all.finish(0, result::success());
    EXPECT_TRUE(all.finished(0));
    EXPECT_EQ(fault_of([&] { all.finish(0, result::success()); }), error_code::bad_argument);
    EXPECT_EQ(fault_of([&] { all.finish(4, result::success()); }), error_code::bad_argument);
    all.hand_back(1);
    all.finish(2, result::cancel());
  });
  EXPECT_EQ(pool.drain(), 4);
  EXPECT_EQ(calls, 1) << "what was handed back is not begun again";
  EXPECT_EQ(state_of(q, "k0"), task_state::succeeded);
  EXPECT_EQ(state_of(q, "k1"), task_state::waiting);
  EXPECT_EQ(state_of(q, "k2"), task_state::discarded);
  EXPECT_EQ(state_of(q, "k3"), task_state::dead);
  EXPECT_EQ(remark_of(q, "k3"), "the handler gave it no result");
  EXPECT_EQ(q.counts().claims, 0);
}

TEST_P(working_inline, a_batch_whose_handler_throws_keeps_what_it_has_finished) {
  auto q = book_.make_queue("half", {.attempts = 1});
  q.import(keys(0, 3));
  node pool(book_);
  pool.work_in_batches("half", [&](job_batch& all) {
    all.finish(0, result::success());
    throw std::runtime_error("503");
  });
  EXPECT_EQ(pool.drain(), 3);
  EXPECT_EQ(q.counts().succeeded, 1);
  EXPECT_EQ(q.counts().dead, 2);
  EXPECT_EQ(remark_of(q, "k1"), "503");
}

TEST_P(working_inline, a_batch_and_its_effect_are_done_once_whatever_is_lost) {
  auto q = book_.make_queue("once", {.backoff = 1ms});
  q.import(keys(0, 100));
  node pool(book_);
  std::mutex arming;
  std::vector<char const*> places{"perform.effect_done", "perform.before_commit",
                                  "perform.committed"};
  auto options = quickly(2);
  options.batch = 8;
  std::atomic<std::int64_t> performed = 0;
  pool.work_in_batches(
      "once",
      [&](job_batch& all) {
        {
          std::lock_guard const lock(arming);
          if (!places.empty()) daybook::testing::arm(places.back(), failpoint_action::cut);
          if (!places.empty()) places.pop_back();
        }
        EXPECT_EQ(all.perform([&](transaction& tx) {
          for (std::size_t i = 0; i < all.size(); ++i) insert("paid")(tx);
        }),
                  outcome::done);
        performed += static_cast<std::int64_t>(all.size());
      },
      options);
  pool.start();
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 100; }));
  pool.stop();
  EXPECT_EQ(effects("paid"), "100");
  EXPECT_EQ(performed, 100);
  EXPECT_EQ(pool.counts("once").value().succeeded, 100);
}

TEST_P(working_inline, in_a_transaction_of_the_applications_a_batch_is_done_or_is_not) {
  auto q = book_.make_queue("mine");
  q.import(keys(0, 6));
  node pool(book_);
  auto const in_mine = [this](auto& what, char const* end) {
    begin();
    insert_mine("paid");
    {
      auto const tx = adoption::join();
      EXPECT_TRUE(what.finish_in(*tx));
    }
    app_.execute(end);
  };
  pool.work_in_batches("mine", [&](job_batch& all) { in_mine(all, "rollback"); });
  EXPECT_EQ(pool.drain(), 6) << "and it is not begun again";
  EXPECT_EQ(q.counts().waiting, 6);
  pool.work_in_batches("mine", [&](job_batch& all) { in_mine(all, "commit"); }, {.batch = 4});
  EXPECT_EQ(pool.drain(), 6);
  EXPECT_EQ(q.counts().succeeded, 6);
  EXPECT_EQ(effects("paid"), "2");
  q.import(keys(6, 7));
  pool.work("mine", [&](job& one) {
    in_mine(one, "commit");
    return result::failure("not looked at");
  });
  EXPECT_EQ(pool.drain(), 1);
  EXPECT_EQ(q.counts().succeeded, 7);
}

TEST_P(working_inline, a_drain_is_of_ticks_and_tasks_in_this_thread) {
  auto q = book_.make_queue("drained");
  auto leads = book_.make_schedule("fills", daybook::cron("@yearly"));
  static_cast<void>(leads.trigger({.actor = "anna", .reason = "a test"}));
  node pool(book_);
  std::set<std::thread::id> threads;
  pool.serve("fills", [&](daybook::tick&) {
    threads.insert(std::this_thread::get_id());
    q.import(keys(0, 300));
  });
  pool.work("drained", [&](job& one) {
    threads.insert(std::this_thread::get_id());
    saw(one.task().key);
    if (one.task().key == "k7") one.hand_back();
    return result::success();
  });
  EXPECT_EQ(pool.drain(), 301);
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
  EXPECT_EQ(seen_.count("k7"), 1U);
  EXPECT_EQ(q.counts().succeeded, 299);
  EXPECT_EQ(q.counts().waiting, 1);
  EXPECT_EQ(q.counts().claims, 0);
  EXPECT_EQ(pool.drain(), 1);
}

TEST_P(working_inline, a_drain_does_suspects_last_and_alone) {
  auto q = other_.make_queue("suspects");
  auto heirs = book_.queue("suspects").value();
  q.import(keys(0, 2));
  auto dead = q.claim().value();
  clock_.advance(1h);
  ASSERT_EQ(heirs.reclaim(), 1);
  heirs.import(keys(2, 5));
  node pool(book_);
  std::vector<int> crashes;
  std::vector<std::int64_t> in_hand;
  pool.work("suspects", [&](job& one) {
    crashes.push_back(one.task().crashes);
    if (one.task().crashes > 0) in_hand.push_back(heirs.counts().running);
    if (one.task().key == "k3") one.hand_back();
    return result::success();
  });
  EXPECT_EQ(pool.drain(), 5);
  EXPECT_EQ(crashes, (std::vector<int>{0, 0, 0, 1, 1}));
  EXPECT_EQ(in_hand, (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(heirs.counts().succeeded, 4);
}

TEST_P(working_inline, what_fails_in_a_drain_is_told_and_leaves_nothing_in_hand) {
  auto q = book_.make_queue("faults");
  q.import(keys(0, 5));
  node pool(book_);
  pool.work("faults", [&](job& one) {
    if (one.task().key == "k4") daybook::testing::arm("complete.begun", failpoint_action::fail);
    return result::success();
  });
  EXPECT_EQ(fault_of([&] { pool.drain(); }), error_code::internal);
  EXPECT_EQ(q.counts().claims, 0);
  EXPECT_EQ(q.counts().succeeded, 5) << "the last try was the drain's end";
}

DAYBOOK_ON_EVERY_ENGINE(working_inline);

}  // namespace
}  // namespace conformance
