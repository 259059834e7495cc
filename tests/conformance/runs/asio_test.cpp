// The same verbs with Asio's completion tokens.
#include "conformance/fixture.hpp"

#include <daybook/asio.hpp>

#include <future>
#include <latch>
#include <thread>

#include <asio/awaitable.hpp>
#include <asio/bind_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/experimental/deferred.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <gmock/gmock.h>

namespace conformance {
namespace {

namespace forms = daybook::asio;
using daybook::end_result;
using daybook::start_result;
using daybook::step_result;

class with_asio : public on_engine {};

TEST_P(with_asio, a_callback_is_called_where_its_executor_says) {
  asio::io_context io;
  int called = 0;
  auto const home = std::this_thread::get_id();
  auto const callback = [&](std::exception_ptr const& failure, start_result attempt) {
    EXPECT_FALSE(failure);
    EXPECT_TRUE(attempt);
    EXPECT_EQ(std::this_thread::get_id(), home);
    ++called;
  };
  forms::async_start(book_, nightly_, day_, asio::bind_executor(io, callback));
  io.run();
  EXPECT_EQ(called, 1);
}

asio::awaitable<void> whole_run(daybook::book& book, std::thread::id home, bool& over) {
  auto const here = [&] { EXPECT_EQ(std::this_thread::get_id(), home); };
  auto attempt =
      co_await forms::async_start(book, process{"a process whose name is not short"},
                                  key{"and a key that is on the heap as well"},
                                  daybook::start_options{.once = true}, asio::use_awaitable);
  here();
  auto run = std::move(attempt).take();
  auto said = std::string("a text that is on the heap, for the sanitizer");
  auto body = [said](transaction& tx) {
    tx.exec("insert into effect(name) values ('load')");
    return said;
  };
  auto const done = co_await forms::async_step(run, "load", body, asio::use_awaitable);
  here();
  EXPECT_EQ(done.value(), said);
  EXPECT_TRUE(co_await forms::async_step(run, std::string("load more, ") + said,
                                         daybook::step_options{}, body, asio::use_awaitable));
  EXPECT_TRUE(co_await forms::async_record(run, std::string("sent, ") + said, asio::use_awaitable));
  auto failing = [](transaction&) { throw std::runtime_error("mine"); };
  try {
    static_cast<void>(co_await forms::async_step(run, "fails", failing, asio::use_awaitable));
    ADD_FAILURE() << "nothing was thrown";
  } catch (std::runtime_error const& e) {
    EXPECT_STREQ(e.what(), "mine");
  }
  here();
  EXPECT_TRUE(co_await forms::async_finish(std::move(run), asio::use_awaitable));
  over = true;
}

TEST_P(with_asio, a_coroutine_goes_on_where_it_was) {
  asio::io_context io;
  bool over = false;
  asio::co_spawn(io, whole_run(book_, std::this_thread::get_id(), over), [](auto const& failure) {
    if (failure) std::rethrow_exception(failure);
  });
  io.run();
  EXPECT_TRUE(over);
  EXPECT_EQ(effects("load"), "2");
}

TEST_P(with_asio, futures) {
  auto run = taken(forms::async_start(book_, nightly_, day_, asio::use_future).get());
  auto load = insert("load");
  EXPECT_EQ(forms::async_step(run, "load", load, asio::use_future).get().what(), outcome::done);
  EXPECT_EQ(
      fault_of([&] { static_cast<void>(forms::async_record(run, "", asio::use_future).get()); }),
      error_code::bad_argument);
  EXPECT_TRUE(forms::async_fail(std::move(run), "a reason", asio::use_future).get());
  EXPECT_EQ(seen().info.state, run_state::failed);
  auto again = taken(forms::async_start(book_, nightly_, day_, asio::use_future).get());
  EXPECT_TRUE(forms::async_release(std::move(again), "enough", asio::use_future).get());
  EXPECT_EQ(seen().info.state, run_state::interrupted);
}

TEST_P(with_asio, deferred_begins_when_it_is_called) {
  auto later = forms::async_start(book_, nightly_, day_, asio::experimental::deferred);
  EXPECT_FALSE(book_.find(nightly_, day_));
  auto run = taken(std::move(later)(asio::use_future).get());
  EXPECT_EQ(run.attempt(), 1);
  EXPECT_TRUE(forms::async_finish(std::move(run), asio::use_future).get());
}

TEST_P(with_asio, a_run_in_use_is_told_in_the_completion) {
  auto run = taken(book_.start(nightly_, day_));
  std::latch go(1);
  auto body = [&](transaction&) { go.wait(); };
  asio::io_context io;
  int told = 0;
  auto under_way = run.step_async("wait", body);
  auto const callback = [&](std::exception_ptr const& failure, step_result<void>) {
    EXPECT_EQ(fault_of([&] { std::rethrow_exception(failure); }), error_code::bad_argument);
    ++told;
  };
  asio::post(io, [&] {
    forms::async_record(run, "other", asio::bind_executor(io, callback));
    EXPECT_EQ(told, 0) << "called from within";
  });
  io.run();
  EXPECT_EQ(told, 1);
  go.count_down();
  EXPECT_TRUE(std::move(under_way).get());
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(with_asio, the_executor_has_work_until_the_end) {
  auto run = taken(book_.start(nightly_, day_));
  std::latch go(1);
  auto body = [&](transaction&) { go.wait(); };
  asio::io_context io;
  bool called = false;
  forms::async_step(run, "wait", body,
                    asio::bind_executor(asio::make_strand(io),
                                        [&](std::exception_ptr const&, step_result<void> done) {
                                          called = static_cast<bool>(done);
                                        }));
  EXPECT_EQ(io.poll(), 0U);
  EXPECT_FALSE(io.stopped()) << "there is work to come";
  go.count_down();
  io.run();
  EXPECT_TRUE(called);
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(with_asio, an_io_context_may_be_destroyed_as_soon_as_it_has_run) {
  auto run = taken(book_.start(nightly_, day_));
  auto body = [](transaction&) {};
  for (int round = 0; round < 100; ++round) {
    bool called = false;
    {
      asio::io_context io;
      auto const handler = [&](std::exception_ptr const&, step_result<void> const&) {
        called = true;
      };
      forms::async_step(run, "round " + std::to_string(round), body,
                        asio::bind_executor(asio::make_strand(io), handler));
      io.run();
    }
    EXPECT_TRUE(called);
  }
  EXPECT_TRUE(std::move(run).finish());
}

DAYBOOK_ON_EVERY_ENGINE(with_asio);

}  // namespace
}  // namespace conformance
