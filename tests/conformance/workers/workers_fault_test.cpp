// Queues that a node works when something goes wrong with it: its claim is lost, its lease runs
// low, no thread is to be had, it is stopped while it leaves a queue.
#include "conformance/working.hpp"

#include <atomic>
#include <cerrno>
#include <future>
#include <map>
#include <system_error>

#include <dlfcn.h>
#include <pthread.h>

namespace conformance {
namespace {

std::atomic<bool> no_threads = false;

/// As long as it lives no thread can be made in this process.
struct without_threads {
  without_threads() { no_threads = true; }
  without_threads(without_threads const&) = delete;
  without_threads& operator=(without_threads const&) = delete;
  ~without_threads() { no_threads = false; }
};

}  // namespace
}  // namespace conformance

// Before the system's own, which it calls.
extern "C" int pthread_create(pthread_t* made, pthread_attr_t const* how, void* (*run)(void*),
                              void* with) {
  if (conformance::no_threads) return EAGAIN;
  static auto* const real =
      reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  return real(made, how, run, with);
}

namespace conformance {
namespace {

class faulty_working : public working {};

TEST_P(faulty_working, a_stop_waits_for_a_queue_that_is_being_left) {
  auto q = book_.make_queue("left");
  q.import(keys(0, 1));
  std::atomic<bool> begun = false;
  std::atomic<bool> ended = false;
  node pool(book_);
  pool.work(
      "left",
      [&](job& one) {
        begun = true;
        EXPECT_EQ(asked(one), stop_reason::closing);
        ended = true;
        return result::success();
      },
      quickly(1));
  pool.start();
  EXPECT_TRUE(comes_true([&] { return begun.load(); }));
  auto const leaving = std::async(std::launch::async, [&] { pool.leave("left"); });
  EXPECT_TRUE(comes_true([&] { return !pool.counts("left"); })) << "it is left, but not gone";
  pool.stop();
  EXPECT_TRUE(ended);
  EXPECT_EQ(q.counts().claims, 0);
  EXPECT_EQ(q.counts().succeeded, 1);
}

// The thread that asks handlers to stop is made with the first of them.
TEST_P(faulty_working, a_task_whose_time_nobody_could_watch_is_handed_back) {
  auto q = book_.make_queue("timed", {.attempts = 1});
  node pool(book_);
  auto options = quickly(2);
  options.timeout = 1min;
  pool.work("timed", succeed, options);
  pool.start();
  {
    without_threads const now;
    q.import(keys(0, 5));
    EXPECT_TRUE(comes_true([&] { return log_.count("retried work") > 0; }));
  }
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 5; }));
  EXPECT_EQ(q.counts().dead, 0);
  pool.stop();
  EXPECT_EQ(pool.counts("timed").value().running, 0);
}

TEST_P(faulty_working, a_change_for_which_there_are_no_threads_changes_nothing) {
  auto q = book_.make_queue("more");
  q.import(keys(0, 10));
  node pool(book_);
  std::atomic<int> of_new = 0;
  auto const anew = [&](job&) {
    ++of_new;
    return result::success();
  };
  pool.start();
  {
    without_threads const now;
    EXPECT_THROW(pool.work("more", anew, quickly(2)), std::system_error);
  }
  EXPECT_FALSE(pool.counts("more")) << "nor is a queue worked by half";
  pool.work("more", succeed, quickly(2));
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 10; }));
  {
    without_threads const now;
    EXPECT_THROW(pool.work("more", anew, quickly(4)), std::system_error);
  }
  q.import(keys(10, 20));
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 20; }));
  EXPECT_EQ(of_new, 0);
  pool.work("more", anew, quickly(4));
  q.import(keys(20, 30));
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 30; }));
  EXPECT_EQ(of_new, 10);
}

// What another has by now is not begun here, nor is what was in hand done twice.
TEST_P(faulty_working, of_a_lost_claim_the_rest_is_begun_by_its_heir_only) {
  auto q = book_.make_queue("lost");
  auto heirs = other_.queue("lost").value();
  q.import(keys(0, 20));
  std::atomic<bool> lost = false;
  std::atomic<int> begun = 0;
  node pool(book_);
  pool.work(
      "lost",
      [&](job& one) {
        if (!lost) {
          ++begun;
          EXPECT_EQ(asked(one), stop_reason::lost);
        }
        auto const became = one.perform(insert(one.task().key.c_str()));
        EXPECT_EQ(became, one.why() == stop_reason::lost ? outcome::lost : outcome::done);
        return result::success();
      },
      quickly(1));
  pool.start();
  EXPECT_TRUE(comes_true([&] { return begun == 1; }));
  EXPECT_GT(q.counts().running, 1) << "the claim has more";
  lost = true;  // now: it may find out by itself, and begin others, before it is told below
  clock_.advance(1h);
  EXPECT_TRUE(takes_back(heirs));
  static_cast<void>(daybook::testing::renew(book_));
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 20; }));
  pool.stop();
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(pool.counts("lost").value().lost, 1);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(effects("k" + std::to_string(i)), "1") << i;
}

/// A drain renews by itself: nobody else may.
TEST_P(faulty_working, a_drain_begins_nothing_under_a_lease_that_runs_low) {
  constexpr auto lease = 1s;
  clock_.stop_at(clock_.now());  // for the database nothing is over but by what is advanced here
  auto brief = database_.open(watched(lease));
  auto q = brief.make_queue("brief");
  auto heirs = other_.queue("brief").value();
  q.import(keys(0, 3));
  node alone(brief);
  int number = 0;
  alone.work("brief", [&](job&) {
    if (number++ == 0) {
      clock_.advance(1h);
      std::this_thread::sleep_for(lease);  // by the host's clock, too, which nobody can move
    } else {
      EXPECT_EQ(heirs.reclaim(), 0) << "it has renewed";
    }
    return result::success();
  });
  EXPECT_EQ(alone.drain(), 3);
  EXPECT_EQ(q.counts().succeeded, 3);
}

TEST_P(faulty_working, a_drain_that_was_taken_for_dead_begins_nothing_more_of_its_claim) {
  constexpr auto lease = 1s;
  auto brief = database_.open(watched(lease));
  auto q = brief.make_queue("dead");
  auto heirs = other_.queue("dead").value();
  q.import(keys(0, 3));
  node alone(brief);
  std::map<std::string, int> crashes;
  std::string order;
  alone.work("dead", [&](job& one) {
    order += one.task().key + " ";
    if (order.size() == 3) {
      clock_.advance(1h);
      EXPECT_TRUE(takes_back(heirs));
      std::this_thread::sleep_for(lease);
    }
    crashes[one.task().key] = one.task().crashes;
    return result::success();
  });
  EXPECT_EQ(alone.drain(), 4);
  EXPECT_EQ(order, "k0 k1 k2 k0 ") << "what was begun once more, as a suspect; nothing else";
  EXPECT_EQ(crashes, (std::map<std::string, int>{{"k0", 1}, {"k1", 0}, {"k2", 0}}));
  EXPECT_EQ(q.counts().succeeded, 3);
}

DAYBOOK_ON_EVERY_ENGINE(faulty_working);

}  // namespace
}  // namespace conformance
