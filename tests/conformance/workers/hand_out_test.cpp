// The hand-out: one claimer, and the threads it feeds.
#include "conformance/handing.hpp"

#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace conformance {
namespace {

using daybook::claimed_task;
using daybook::result;
using daybook::task_fetcher;
using daybook::task_state;

class handing_out : public handing {};

TEST_P(handing_out, every_task_once_to_several_threads) {
  auto q = book_.make_queue("many", {.record_every_outcome = true});
  q.import(keys(0, 3000));
  std::mutex guard;
  std::multiset<std::string> had;
  std::size_t most = 0;
  {
    task_fetcher out(q, {.batch = 200, .ahead = 1, .poll = 20ms});
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        while (auto one = out.next()) {
          auto const counts = out.counts();
          {
            std::lock_guard const lock(guard);
            had.insert(one->task().key);
            most = std::max(most, counts.waiting + counts.working + counts.unwritten);
          }
          EXPECT_EQ(one->finish(result::success()), outcome::done);
        }
      });
    }
    EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 3000; }));
    out.stop();
    EXPECT_EQ(out.counts().claims, 0U);
  }
  EXPECT_EQ(had.size(), 3000U);
  EXPECT_EQ(std::set<std::string>(had.begin(), had.end()).size(), 3000U);
  EXPECT_LE(most, 400U);
  EXPECT_EQ(q.counts().claims, 0);
}

TEST_P(handing_out, what_is_finished_is_written_while_a_slow_task_runs) {
  auto q = book_.make_queue("flushed");
  q.import(keys(0, 2));
  task_fetcher out(q, quick());
  {
    auto slow = must_come(out);
    auto quick_one = must_come(out);
    auto const name = quick_one.task().key;
    EXPECT_EQ(quick_one.finish(result::success()), outcome::done);
    EXPECT_TRUE(comes_true([&] { return state_of(q, name) == task_state::succeeded; }));
    EXPECT_EQ(state_of(q, slow.task().key), task_state::running);
    EXPECT_TRUE(comes_true([&] { return out.counts().unwritten == 0; }));
    // It is in the ledger: a crash from here on does not repeat it.
    EXPECT_EQ(ended_rows(), "1");
    EXPECT_EQ(slow.finish(result::failure("no")), outcome::done);
    EXPECT_THROW(slow.finish(result::success()), daybook::error);
  }
  EXPECT_TRUE(comes_true([&] { return q.counts().claims == 0; }));
  EXPECT_EQ(q.counts().succeeded, 1);
}

TEST_P(handing_out, a_stop_finishes_what_threads_have_and_hands_back_the_rest) {
  auto q = book_.make_queue("stopped");
  q.import(keys(0, 50));
  task_fetcher out(q, quick());
  auto one = std::make_optional(must_come(out));
  auto second = std::make_optional(must_come(out));
  auto third = std::make_optional(must_come(out));
  EXPECT_EQ(one->finish(result::success()), outcome::done);
  out.close();
  EXPECT_FALSE(out.next());
  std::atomic<bool> stopped = false;
  std::jthread const stops([&] {
    out.stop();
    stopped = true;
  });
  EXPECT_FALSE(stopped);
  third->hand_back();
  EXPECT_EQ(second->finish(result::success()), outcome::done);
  EXPECT_TRUE(comes_true([&] { return stopped.load(); }));
  auto const counts = q.counts();
  EXPECT_EQ(counts.succeeded, 2);
  EXPECT_EQ(counts.waiting, 48);
  EXPECT_EQ(counts.running, 0);
  EXPECT_EQ(counts.claims, 0);
  EXPECT_EQ(q.find(key(third->task().key)).value().attempts, 0);
}

TEST_P(handing_out, a_task_that_is_dropped_has_failed) {
  auto q = book_.make_queue("dropped", {.attempts = 1});
  auto once = book_.make_queue("dropped once", {.mode = daybook::step_mode::at_most_once});
  q.import(keys(0, 1));
  once.import(keys(0, 1));
  {
    task_fetcher out(q, quick());
    task_fetcher out_once(once, quick());
    try {
      auto one = must_come(out);
      one.perform([](transaction&) { throw std::runtime_error("no"); });
    } catch (std::runtime_error const&) {
    }
    static_cast<void>(must_come(out_once));
  }
  EXPECT_EQ(state_of(q, "k0"), task_state::dead);
  EXPECT_EQ(state_of(once, "k0"), task_state::unknown);
}

TEST_P(handing_out, a_lost_claim_has_no_second_effect) {
  auto q = book_.make_queue("lost");
  auto heirs = other_.queue("lost").value();
  q.import(keys(0, 20));
  task_fetcher out(q, {.flush_every = 60000ms, .poll = 3600000ms});
  auto performed = must_come(out);
  auto finished = must_come(out);
  auto const in_hand = out.counts();
  EXPECT_GT(in_hand.claims, 0U);
  clock_.advance(1h);
  EXPECT_GE(heirs.reclaim(), 1);
  EXPECT_FALSE(performed.lost().stop_requested());
  EXPECT_EQ(performed.perform(insert("paid")), outcome::lost);
  EXPECT_TRUE(performed.lost().stop_requested());
  EXPECT_EQ(effects("paid"), "0");
  EXPECT_TRUE(finished.lost().stop_requested()) << "they are of one claim";
  EXPECT_EQ(finished.finish(result::success()), outcome::lost);
  while (auto one = heirs.claim({.quarantined = true})) {
    EXPECT_EQ(one->perform(one->tasks()[0], insert("paid")), outcome::done);
    EXPECT_EQ(std::move(*one).complete(), outcome::done);
  }
  out.stop();
  while (auto batch = heirs.claim()) {
    for (auto const& one : batch->tasks()) {
      EXPECT_EQ(batch->perform(one, insert("paid")), outcome::done);
    }
    EXPECT_EQ(std::move(*batch).complete(), outcome::done);
  }
  while (auto one = heirs.claim({.quarantined = true})) {
    EXPECT_EQ(one->perform(one->tasks()[0], insert("paid")), outcome::done);
    EXPECT_EQ(std::move(*one).complete(), outcome::done);
  }
  EXPECT_EQ(effects("paid"), "20");
  EXPECT_EQ(q.counts().succeeded, 20);
}

TEST_P(handing_out, a_dead_holders_tasks_are_not_handed_out) {
  auto q = book_.make_queue("buried");
  q.import(keys(0, 20));
  task_fetcher out(q, {.batch = 20, .poll = 20ms});
  auto one = must_come(out);
  clock_.advance(1h);
  EXPECT_TRUE(takes_back(other_.queue("buried").value()));
  static_cast<void>(daybook::testing::renew(book_));  // it may know by its own claim
  EXPECT_TRUE(comes_true([&] { return one.lost().stop_requested(); }));
  EXPECT_EQ(one.finish(result::success()), outcome::lost);
}

TEST_P(handing_out, a_suspect_is_alone_before_its_last_crash) {
  auto q = other_.make_queue("suspects", {.crash_limit = 2});
  auto heirs = book_.queue("suspects").value();
  q.import(keys(0, 1));
  auto dead = q.claim().value();
  clock_.advance(1h);
  EXPECT_EQ(heirs.reclaim(), 1);
  heirs.import(keys(1, 12));
  task_fetcher out(heirs, quick());
  std::atomic<int> working = 0;
  std::atomic<int> suspects = 0;
  std::atomic<int> done = 0;
  std::atomic<bool> together = false;
  std::atomic<bool> alone = false;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        while (auto one = out.next()) {
          auto const others = working++;
          bool const suspect = one->task().crashes > 0;
          if (alone || (suspect && others > 0)) together = true;
          if (suspect) alone = true;
          if (suspect) {
            if (suspects++ == 0) {
              heirs.import(keys(12, 15));
              for (int asked = 0; asked < 600; ++asked) static_cast<void>(heirs.counts());
            }
            if (out.counts().working != 1) together = true;
          }
          if (suspect) alone = false;
          --working;
          one->finish(result::success());
          ++done;
        }
      });
    }
    EXPECT_TRUE(comes_true([&] { return done == 15; }));
    out.stop();
  }
  EXPECT_EQ(suspects, 1);
  EXPECT_FALSE(together);
  EXPECT_EQ(heirs.counts().succeeded, 15);
}

TEST_P(handing_out, a_busy_process_is_quiet_for_a_suspect_before_its_last_crash) {
  auto q = other_.make_queue("busy", {.crash_limit = 2});
  auto heirs = book_.queue("busy").value();
  q.import(keys(0, 1));
  auto dead = q.claim().value();
  clock_.advance(1h);
  EXPECT_EQ(heirs.reclaim(), 1);
  heirs.import(keys(1, 200));
  task_fetcher out(heirs, {.batch = 5, .poll = 1ms});
  auto first = std::make_optional(must_come(out));
  int before = 0;
  auto const works_off = [&] {
    auto one = must_come(out);
    bool const suspect = one.task().crashes > 0;
    if (suspect) {
      EXPECT_EQ(out.counts().working, 1U);
    }
    one.finish(result::success());
    ++before;
    return suspect;
  };
  first->finish(result::success());
  while (before < 199 && !works_off()) {
  }
  EXPECT_LT(before, 190) << "it had to wait for all the others";
  out.stop();
}

TEST_P(handing_out, slots_are_kept) {
  auto q = book_.make_queue("slots", {.rate = daybook::rate{20, 1s}});
  q.import(keys(0, 6));
  auto const before = std::chrono::steady_clock::now();  // no slot is counted from sooner
  task_fetcher out(q, quick());
  auto last = before;
  std::vector<std::int64_t> order;
  for (int i = 0; i < 6; ++i) {
    auto one = must_come(out);
    last = std::chrono::steady_clock::now();
    order.push_back(one.task().id);
    one.finish(result::success());
  }
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_GE(last - before, 200ms);
}

TEST_P(handing_out, the_database_goes_away_and_comes_back) {
  auto q = book_.make_queue("outage");
  q.import(keys(0, 200));
  for (auto const* place : {"claim.before_commit", "claim.committed", "complete.before_commit",
                            "complete.committed", "flush.before_commit", "flush.committed"}) {
    SCOPED_TRACE(place);
    task_fetcher out(q, {.batch = 20, .flush_every = 1ms, .poll = 5ms});
    daybook::testing::arm(place, failpoint_action::cut);
    for (int i = 0; i < 30; ++i) {
      auto one = must_come(out);
      EXPECT_EQ(one.finish(result::success()), outcome::done);
    }
    out.stop();
    daybook::testing::disarm();
  }
  EXPECT_EQ(q.counts().succeeded, 180);
  EXPECT_EQ(q.counts().waiting, 20);
}

TEST_P(handing_out, a_fault_of_the_claimer_is_told_and_tried_again) {
  auto q = book_.make_queue("faults");
  q.import(keys(0, 1));
  task_fetcher out(q, quick());
  daybook::testing::arm("claim.begun", failpoint_action::fail);
  auto one = must_come(out);
  EXPECT_GE(log_.count("retried hand_out"), 1U);
  daybook::testing::arm("complete.begun", failpoint_action::fail);
  EXPECT_EQ(one.finish(result::success()), outcome::done);
  EXPECT_TRUE(comes_true([&] { return log_.count("retried hand_out") >= 2; }));
  EXPECT_TRUE(comes_true([&] { return state_of(q, "k0") == task_state::succeeded; }));
}

TEST_P(handing_out, nothing_is_claimed_that_nobody_asked_for) {
  auto q = book_.make_queue("idle");
  q.import(keys(0, 10));
  {
    task_fetcher out(q, {.poll = 1ms});
    out.wake();
    for (int i = 10; i < 30; ++i) q.add(key("k" + std::to_string(i)));
  }
  EXPECT_EQ(log_.count("timed claim"), 0U);
  EXPECT_EQ(fault_of([&] { task_fetcher bad(q, {.batch = 0}); }), error_code::bad_argument);
  EXPECT_EQ(fault_of([&] { task_fetcher bad(q, {.ahead = -1}); }), error_code::bad_argument);
  EXPECT_EQ(fault_of([&] { task_fetcher bad(q, {.flush_every = 0ms}); }), error_code::bad_argument);
  EXPECT_EQ(fault_of([&] { task_fetcher bad(q, {.poll = 0ms}); }), error_code::bad_argument);
  std::stop_source stop;
  stop.request_stop();
  task_fetcher out(q, quick());
  EXPECT_FALSE(out.next(stop.get_token()));
}

TEST_P(handing_out, slow_completions_hold_new_claims_back) {
  auto q = book_.make_queue("pressed");
  q.import(keys(0, 100));
  task_fetcher out(q, {.batch = 4, .ahead = 1, .flush_every = 60000ms, .poll = 5ms});
  std::vector<claimed_task> taken;
  for (int i = 0; i < 8; ++i) taken.push_back(must_come(out));
  std::stop_source stop;
  auto more = std::async(std::launch::async, [&] { return out.next(stop.get_token()); });
  EXPECT_EQ(more.wait_for(100ms), std::future_status::timeout);
  EXPECT_EQ(q.counts().running, 8);
  taken.front().finish(result::success());
  EXPECT_TRUE(more.wait_for(for_ever) == std::future_status::ready);
  stop.request_stop();
  more.get().value().finish(result::success());
  for (auto& one : taken) {
    if (&one != &taken.front()) one.finish(result::success());
  }
  taken.clear();
  out.stop();
  EXPECT_EQ(q.counts().succeeded, 9);
}

DAYBOOK_ON_EVERY_ENGINE(handing_out);

}  // namespace
}  // namespace conformance
