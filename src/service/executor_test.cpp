// The threads of a book, and what a pending does with them; no database.
#include "service/executor.hpp"

#include "support/coroutine.hpp"

#include <daybook/error.hpp>
#include <daybook/future.hpp>
#include <daybook/pending.hpp>

#include <barrier>
#include <chrono>
#include <future>
#include <latch>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace daybook::work {
namespace {

using namespace std::chrono_literals;

template <class F>
auto begin(executor& executor, F body) -> pending<std::invoke_result_t<F&>> {
  auto into = std::make_shared<answer<std::invoke_result_t<F&>>>();
  executor.post(into, [into = into.get(), body = std::move(body)]() mutable { into->put(body()); });
  return pending<std::invoke_result_t<F&>>(into);
}

template <class T>
error_code fault_of(pending<T> pending) {
  try {
    static_cast<void>(std::move(pending).get());
  } catch (error const& e) {
    return e.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return error_code::internal;
}

TEST(executor, does_work_in_the_order_of_the_calls) {
  executor one(1);
  std::vector<int> done;
  for (int i = 0; i < 99; ++i) {
    static_cast<void>(begin(one, [&done, i] {
      done.push_back(i);
      return i;
    }));
  }
  EXPECT_EQ(begin(one, [] { return 99; }).get(), 99);
  ASSERT_EQ(done.size(), 99U);
  for (int i = 0; i < 99; ++i) EXPECT_EQ(done.at(static_cast<std::size_t>(i)), i);
}

TEST(executor, has_as_many_threads_as_allowed_when_there_is_work_for_them) {
  executor three(3);
  std::barrier together(3);
  std::vector<pending<std::thread::id>> all;
  for (int i = 0; i < 30; ++i) {
    all.push_back(begin(three, [&] {
      together.arrive_and_wait();  // only three at once come through
      return std::this_thread::get_id();
    }));
  }
  std::set<std::thread::id> seen;
  for (auto& one : all) seen.insert(std::move(one).get());
  EXPECT_EQ(seen.size(), 3U);
}

TEST(executor, what_the_work_throws_comes_out_of_get) {
  executor one(1);
  auto failing = begin(one, []() -> int { throw std::runtime_error("no"); });
  EXPECT_THROW(static_cast<void>(std::move(failing).get()), std::runtime_error);
  EXPECT_EQ(begin(one, [] { return 1; }).get(), 1);
}

TEST(executor, drops_the_work_before_it_settles) {
  executor one(1);
  auto held = std::make_shared<int>(7);
  std::weak_ptr<int> const watched = held;
  EXPECT_EQ(begin(one, [held = std::move(held)] { return *held; }).get(), 7);
  EXPECT_TRUE(watched.expired());
}

TEST(executor, close_finishes_what_was_begun_and_refuses_the_rest) {
  executor one(1);
  std::latch begun(1);
  std::latch refused(1);
  auto first = begin(one, [&] {
    begun.count_down();
    refused.wait();  // what was refused hears of it before the begun is waited for
    return 1;
  });
  auto second = begin(one, [] { return 2; });
  begun.wait();
  auto kind = error_code::internal;
  std::move(second).then([&](pending<int> done) {
    kind = fault_of(std::move(done));
    refused.count_down();
  });
  one.close();
  EXPECT_TRUE(first.ready());
  EXPECT_EQ(std::move(first).get(), 1);
  EXPECT_EQ(kind, error_code::closed);
  EXPECT_EQ(fault_of(begin(one, [] { return 3; })), error_code::closed);
}

TEST(executor, may_end_on_a_thread_of_its_own) {
  auto last = std::make_unique<executor>(2);
  std::latch ready(1);
  std::promise<int> ended;
  auto one = begin(*last, [&] {
    ready.wait();
    return 5;
  });
  std::move(one).then([&, last = std::move(last)](pending<int> done) mutable {
    last.reset();
    ended.set_value(std::move(done).get());
  });
  ready.count_down();
  EXPECT_EQ(ended.get_future().get(), 5);
}

TEST(executor, its_threads_must_not_wait_for_themselves) {
  executor one(1);
  auto kinds = begin(one, [&] {
    auto other = begin(one, [] { return 1; });
    bool complained = false;
    try {
      other.wait_for(1h);
    } catch (error const& e) {
      complained = e.kind() == error_code::bad_argument;
    }
    return std::pair(complained, fault_of(std::move(other)));
  });
  auto const [waited, got] = std::move(kinds).get();
  EXPECT_TRUE(waited);
  EXPECT_EQ(got, error_code::bad_argument);
}

TEST(pending, is_ready_when_the_work_is_done) {
  executor one(1);
  std::latch go(1);
  auto coming = begin(one, [&] {
    go.wait();
    return std::string("here");
  });
  EXPECT_FALSE(coming.ready());
  EXPECT_FALSE(coming.wait_for(0s));
  go.count_down();
  EXPECT_TRUE(coming.wait_for(1min));
  EXPECT_TRUE(coming.ready());
  EXPECT_EQ(std::move(coming).get(), "here");
}

TEST(pending, calls_back_once_on_the_thread_that_did_the_work) {
  executor one(1);
  std::latch go(1);
  std::promise<std::pair<bool, int>> called;
  auto owned = std::make_unique<int>(3);  // what a callback captures need not be copied
  std::thread::id worker;
  auto coming = begin(one, [&] {
    go.wait();
    worker = std::this_thread::get_id();
    return 4;
  });
  std::move(coming).then([&, owned = std::move(owned)](pending<int> done) {
    EXPECT_TRUE(done.ready());
    called.set_value({std::this_thread::get_id() == worker, *owned + std::move(done).get()});
  });
  go.count_down();
  EXPECT_EQ(called.get_future().get(), std::pair(true, 7));
}

TEST(pending, calls_back_here_and_now_when_it_is_ready) {
  executor one(1);
  auto coming = begin(one, [] { return 4; });
  ASSERT_TRUE(coming.wait_for(1min));
  std::thread::id where;
  std::move(coming).then([&](pending<int>) { where = std::this_thread::get_id(); });
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(pending, becomes_a_future) {
  executor one(1);
  EXPECT_EQ(to_future(begin(one, [] { return 4; })).get(), 4);
  auto failing = to_future(begin(one, []() -> int { throw std::runtime_error("no"); }));
  EXPECT_THROW(failing.get(), std::runtime_error);
}

TEST(pending, is_spent_once) {
  executor one(1);
  auto coming = begin(one, [] { return 4; });
  EXPECT_EQ(std::move(coming).get(), 4);
  // NOLINTBEGIN(bugprone-use-after-move): that is what is looked at
  EXPECT_FALSE(coming.ready());
  EXPECT_THROW(static_cast<void>(coming.wait_for(0s)), error);
  EXPECT_EQ(fault_of(std::move(coming)), error_code::bad_argument);
  EXPECT_THROW(std::move(coming).then([](pending<int>) {}), error);
  // NOLINTEND(bugprone-use-after-move)
}

TEST(pending, dropped_lets_the_work_go_on_and_throws_its_answer_away) {
  std::weak_ptr<int> answer;
  {
    executor one(1);
    static_cast<void>(begin(one, [&] {
      auto made = std::make_shared<int>(1);
      answer = made;
      return made;
    }));
    static_cast<void>(begin(one, [] { return 2; }).get());
    EXPECT_TRUE(answer.expired());
  }
}

support::job add(executor& executor, std::vector<std::thread::id>& where, int& sum) {
  std::latch go(1);
  auto first = begin(executor, [&] {
    go.wait();
    return 1;
  });
  auto second = begin(executor, [] { return 2; });
  go.count_down();
  sum += co_await std::move(first);
  sum += co_await std::move(second);
  where.push_back(std::this_thread::get_id());
  auto third = begin(executor, [] { return 4; });
  while (!third.ready()) std::this_thread::yield();  // another thread does it
  sum += co_await std::move(third);
  where.push_back(std::this_thread::get_id());
  static_cast<void>(co_await begin(executor, []() -> int { throw std::runtime_error("no"); }));
}

TEST(pending, is_awaited) {
  executor two(2);
  int sum = 0;
  std::vector<std::thread::id> where;
  auto adding = add(two, where, sum);
  EXPECT_THROW(adding.get(), std::runtime_error);
  EXPECT_EQ(sum, 7);
  ASSERT_EQ(where.size(), 2U);
  EXPECT_EQ(where[0], where[1]) << "what is ready is no reason to suspend";
}

TEST(pending_DeathTest, a_callback_that_throws_ends_the_program) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        executor one(1);
        begin(one, [] { return 4; }).then([](pending<int>) { throw std::runtime_error("mine"); });
        one.close();
      },
      "mine");
}

}  // namespace
}  // namespace daybook::work
