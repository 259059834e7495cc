// The asynchronous forms: callbacks, futures, coroutines; who may use a run meanwhile; that no
// transaction is open while a coroutine waits.
#include "conformance/fixture.hpp"

#include "support/coroutine.hpp"

#include <daybook/future.hpp>

#include <atomic>
#include <coroutine>
#include <future>
#include <latch>
#include <thread>

#include <gmock/gmock.h>
#include <sys/wait.h>

namespace conformance {
namespace {

using daybook::pending;
using daybook::start_result;

daybook::run must_take(start_result attempt) {
  if (!attempt) throw std::runtime_error("start() gave no run");
  return std::move(attempt).take();
}

/// Coroutines wait here until all are let go.
class gate {
 public:
  explicit gate(int expected) : arrived_(expected) {}
  auto operator co_await() {
    struct awaiter {
      gate& of;
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> who) const { of.add(who); }
      void await_resume() const noexcept {}
    };
    return awaiter{*this};
  }
  void wait_for_all() { arrived_.wait(); }
  void open() {
    for (auto const who : std::exchange(waiting_, {})) who.resume();
  }

 private:
  void add(std::coroutine_handle<> who) {
    {
      std::lock_guard const lock(guard_);
      waiting_.push_back(who);
    }
    arrived_.count_down();
  }
  std::mutex guard_;
  std::vector<std::coroutine_handle<>> waiting_;
  std::latch arrived_;
};

class asynchronous : public on_engine {
 protected:
  /// A book of its own with one thread, so that what was asked first is over first.
  [[nodiscard]] daybook::book one_thread() {
    auto options = watched();
    options.async_threads = 1;
    return database_.open(options);
  }
  template <class T>
  static error_code fault_in(pending<T> of) {
    return fault_of([&] { static_cast<void>(std::move(of).get()); });
  }
};

TEST_P(asynchronous, a_run_with_get) {
  auto run = taken(book_.start_async(nightly_, day_).get());
  auto load = insert("load");
  EXPECT_EQ(run.step_async("load", load).get().what(), outcome::done);
  EXPECT_EQ(run.record_async("sent").get().what(), outcome::done);
  EXPECT_TRUE(std::move(run).finish_async().get());
  EXPECT_EQ(effects("load"), "1");
  EXPECT_EQ(seen().info.state, run_state::succeeded);
  EXPECT_EQ(seen().steps.size(), 2U);
}

TEST_P(asynchronous, the_longest_time_is_waited_for_and_the_shortest_is_over) {
  auto run = taken(book_.start(nightly_, day_));
  std::promise<void> go_on;
  auto const wait = [&](transaction&) { go_on.get_future().wait(); };
  auto const done = run.step_async("wait", wait);
  EXPECT_FALSE(done.wait_for(1ms));
  EXPECT_FALSE(done.wait_for(std::chrono::hours::min()));
  std::jthread const later([&] {
    std::this_thread::sleep_for(50ms);
    go_on.set_value();
  });
  EXPECT_TRUE(done.wait_for(std::chrono::hours::max()));
}

TEST_P(asynchronous, a_run_with_futures) {
  auto coming = to_future(book_.start_async(nightly_, day_));
  auto run = taken(coming.get());
  auto count = [](transaction& tx) {
    tx.exec("insert into effect(name) values ('load')");
    return tx.rows<std::int64_t>("select count(*) from effect").at(0);
  };
  auto counted = to_future(run.step_async("load", count));
  EXPECT_EQ(counted.get().value(), 1);
  EXPECT_TRUE(to_future(std::move(run).fail_async("later")).get());
  EXPECT_EQ(seen().info.state, run_state::failed);
  auto second = taken(to_future(book_.start_async(nightly_, day_)).get());
  auto const again = to_future(second.step_async("load", count)).get();
  EXPECT_EQ(again.what(), outcome::skipped);
  EXPECT_EQ(again.value(), 1);
  EXPECT_TRUE(to_future(std::move(second).release_async("enough")).get());
  EXPECT_EQ(seen().info.state, run_state::interrupted);
}

TEST_P(asynchronous, a_run_in_callbacks) {
  std::promise<bool> over;
  book_.start_async(nightly_, day_).then([&](pending<start_result> attempt) {
    auto run = std::make_shared<daybook::run>(taken(std::move(attempt).get()));
    auto load = insert("load");
    run->step_async("load", load).then([&, run](pending<daybook::step_result<void>> done) {
      EXPECT_EQ(std::move(done).get().what(), outcome::done);
      std::move(*run).finish_async().then([&](pending<daybook::end_result> end) {
        over.set_value(static_cast<bool>(std::move(end).get()));
      });
    });
  });
  EXPECT_TRUE(over.get_future().get());
  EXPECT_EQ(effects("load"), "1");
}

/// Every form in which a caller may write the arguments. The texts are longer than what a
/// std::string keeps inside, so that a sanitizer sees one that is freed twice.
support::job all_forms(daybook::book& book, std::string const& far, int& steps) {
  auto first = co_await book.start_async(process{"a process whose name is not short"});
  auto one = std::move(first).take();
  auto body = [](transaction& tx) { tx.exec("insert into effect(name) values ('form')"); };
  auto const constant = body;
  auto said = far + " captured";
  auto capturing = [said, &steps](transaction& tx) {
    tx.exec("insert into effect(name) values (:n)", said.substr(0, 4));
    ++steps;
    return said;
  };
  auto const referred = std::ref(capturing);
  daybook::step_options const options{};
  steps += (co_await one.step_async("a literal of more than fifteen bytes", body)) ? 1 : 0;
  steps += (co_await one.step_async(far + " in a temporary", constant)) ? 1 : 0;
  steps += (co_await one.step_async(std::string_view(far), capturing)).value() == said ? 1 : 0;
  steps += (co_await one.step_async("referred to with an std::ref", referred)) ? 1 : 0;
  steps += (co_await one.step_async("an aggregate", daybook::step_options{}, body)) ? 1 : 0;
  steps +=
      (co_await one.step_async("with designators", {.fence = daybook::fence_position::first}, body))
          ? 1
          : 0;
  steps += (co_await one.step_async("options with a name", options, body)) ? 1 : 0;
  steps += (co_await one.record_async(std::string("recorded, ") + far)) ? 1 : 0;
  if (!co_await std::move(one).fail_async("a reason, " + far)) steps = -100;

  auto second = co_await book.start_async(process{"a process whose name is not short"}, key{far},
                                          daybook::start_options{.once = true});
  auto third = co_await book.start_async(process{far}, key{std::string("the key of ") + far},
                                         {.restart = true});
  auto coming = book.start_async(process{far}, key{far}, {});
  auto fourth = co_await std::move(coming);
  auto two = std::move(second).take();
  if (!co_await std::move(two).release_async(std::string_view(far))) steps = -100;
  if (!co_await std::move(third).take().finish_async()) steps = -100;
  if (!co_await std::move(fourth).take().finish_async()) steps = -100;
}

TEST_P(asynchronous, a_coroutine_may_write_arguments_in_every_form) {
  int steps = 0;
  all_forms(book_, "what was said in a far away place", steps).get();
  EXPECT_EQ(steps, 8 + 2);  // and two bodies counted themselves
  EXPECT_EQ(effects("form"), "5");
  EXPECT_EQ(effects("what"), "2");
}

/// Counts how many of it there are, and were.
struct counted {
  static inline std::atomic<int> living = 0;
  static inline std::atomic<int> made = 0;
  std::string text = "long enough to be on the heap, for the sanitizer";
  counted() { count(); }
  counted(counted const& other) : text(other.text) { count(); }
  counted(counted&& other) noexcept : text(std::move(other.text)) { count(); }
  counted& operator=(counted const&) = delete;
  counted& operator=(counted&&) = delete;
  ~counted() { --living; }
  static void count() {
    ++living;
    ++made;
  }
};

support::job holds_counted(daybook::book& book, int& living_inside) {
  auto run =
      must_take(co_await book.start_async(process{"counting"}, key{"a long key, on the heap"}));
  auto body = [of = counted{}, &living_inside](transaction&) {
    living_inside = counted::living;
    return of.text;
  };
  static_cast<void>(co_await run.step_async("one", body));
  static_cast<void>(co_await run.step_async("two", daybook::step_options{}, body));
  if (!co_await std::move(run).finish_async()) throw std::runtime_error("not finished");
}

TEST_P(asynchronous, what_a_body_captures_is_destroyed_once) {
  counted::living = 0;
  counted::made = 0;
  int inside = 0;
  {
    auto book = one_thread();
    holds_counted(book, inside).get();
  }
  EXPECT_EQ(inside, 2) << "the coroutine's, and the copy that works";
  EXPECT_EQ(counted::living, 0);
  EXPECT_GE(counted::made, 3);
}

TEST_P(asynchronous, what_a_body_throws_comes_out_and_the_step_may_be_tried_again) {
  auto run = taken(book_.start(nightly_, day_));
  auto failing = [](transaction& tx) {
    tx.exec("insert into effect(name) values ('load')");
    throw std::runtime_error("mine");
  };
  EXPECT_EQ(message_of([&] { static_cast<void>(run.step_async("load", failing).get()); }), "mine");
  EXPECT_EQ(effects("load"), "0");
  auto wrong = [](transaction& tx) { tx.exec("insert into no_such_table values (1)"); };
  EXPECT_EQ(fault_in(run.step_async("load", wrong)), error_code::statement);
  EXPECT_EQ(fault_in(run.record_async("")), error_code::bad_argument);
  auto load = insert("load");
  EXPECT_TRUE(run.step_async("load", load).get());
  EXPECT_TRUE(std::move(run).finish_async().get());
  EXPECT_EQ(fault_in(run.step_async("late", load)), error_code::bad_argument);
}

TEST_P(asynchronous, busy_and_lost_are_answers) {
  auto run = taken(book_.start(nightly_, day_));
  auto other = database_.open();
  auto const refused = other.start_async(nightly_, day_).get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.why(), start_refusal::running_elsewhere);
  ASSERT_TRUE(daybook::testing::expire(book_, nightly_, day_));
  auto heir = taken(other.start_async(nightly_, day_).get());
  auto load = insert("load");
  EXPECT_EQ(run.step_async("load", load).get().what(), outcome::lost);
  EXPECT_FALSE(std::move(run).finish_async().get());
  EXPECT_TRUE(std::move(heir).finish_async().get());
  EXPECT_EQ(effects("load"), "0");
}

TEST_P(asynchronous, a_run_is_in_use_while_a_step_is_under_way) {
  auto run = taken(book_.start(nightly_, day_));
  auto const token = run.token();
  std::latch begun(1);
  std::latch go(1);
  bool free_inside = false;
  auto body = [&](transaction& tx) {
    begun.count_down();
    go.wait();
    free_inside = !run.done("other") && run.token() == token && run.epoch() > 0;
    EXPECT_EQ(fault_of([&] { static_cast<void>(run.record_async("inside")); }),
              error_code::bad_argument);
    insert("load")(tx);
  };
  auto coming = run.step_async("load", body);
  std::vector<std::function<void()>> const calls{
      [&] { static_cast<void>(run.step("other", insert("other"))); },
      [&] { static_cast<void>(run.step_async("other", body)); },
      [&] { static_cast<void>(run.record("other")); },
      [&] { static_cast<void>(run.record_async("other")); },
      [&] { static_cast<void>(run.done("other")); },
      [&] { static_cast<void>(run.token()); },
      [&] { static_cast<void>(run.epoch()); },
      [&] { static_cast<void>(std::move(run).finish()); },
      [&] { static_cast<void>(std::move(run).fail("other")); },
      [&] { static_cast<void>(std::move(run).release("other")); },
      [&] { static_cast<void>(std::move(run).finish_async()); },
  };
  begun.wait();
  for (std::size_t at = 0; at < calls.size(); ++at) {
    EXPECT_THAT(message_of(calls[at]), testing::HasSubstr("nightly / 2026-11-21 is in use"))
        << "call " << at;
    EXPECT_EQ(fault_of(calls[at]), error_code::bad_argument) << "call " << at;
  }
  EXPECT_EQ(run.process_name(), nightly_);
  EXPECT_EQ(run.run_key(), day_);
  EXPECT_EQ(run.number(), 1);
  EXPECT_FALSE(run.resumed());
  EXPECT_FALSE(run.stop().stop_requested());
  EXPECT_FALSE(run.idempotency_key("load").empty());
  go.count_down();
  EXPECT_EQ(std::move(coming).get().what(), outcome::done);
  EXPECT_TRUE(free_inside);
  EXPECT_TRUE(run.step("other", insert("other")));
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(asynchronous, a_run_may_be_moved_and_dropped_while_a_step_is_under_way) {
  std::latch begun(1);
  std::latch go(1);
  std::optional<pending<daybook::step_result<void>>> coming;
  {
    auto run = taken(book_.start(nightly_, day_));
    auto body = [&begun, &go, load = insert("load")](transaction& tx) {
      begun.count_down();
      go.wait();
      load(tx);
    };
    coming = run.step_async("load", body);
    begun.wait();
    auto const moved = std::move(run);
  }
  EXPECT_EQ(log_.count("released"), 0U);
  go.count_down();
  EXPECT_EQ(std::move(*coming).get().what(), outcome::done);
  EXPECT_EQ(log_.count("released"), 1U) << "handed back before its pending was ready";
  auto next = taken(book_.start(nightly_, day_));
  EXPECT_EQ(next.attempt(), 2);
  EXPECT_EQ(next.step("load", insert("load")).what(), outcome::skipped);
  EXPECT_TRUE(std::move(next).finish());
  EXPECT_EQ(effects("load"), "1");
}

TEST_P(asynchronous, an_answer_that_nobody_wants_is_thrown_away) {
  auto book = one_thread();
  static_cast<void>(book.start_async(nightly_, day_));
  auto run = taken(book.start_async(nightly_, key{"next"}).get());
  EXPECT_EQ(log_.count("released nightly/2026-11-21"), 1U);
  auto load = insert("load");
  static_cast<void>(run.step_async("load", load));  // the work goes on
  EXPECT_FALSE(book.start_async(nightly_, key{"next"}).get());
  EXPECT_TRUE(std::move(run).finish_async().get());
  EXPECT_EQ(effects("load"), "1");
}

TEST_P(asynchronous, a_book_that_goes_finishes_what_was_begun) {
  auto book = std::make_unique<daybook::book>(one_thread());
  auto first = taken(book->start(nightly_, day_));
  std::latch begun(1);
  std::latch go(1);
  auto body = [&begun, &go, load = insert("load")](transaction& tx) {
    begun.count_down();
    go.wait();
    load(tx);
  };
  auto step = first.step_async("load", body);
  auto refused = book->start_async(nightly_, key{"next"});
  auto ending = to_future(std::move(refused));
  begun.wait();
  { auto const dropped = std::move(first); }
  std::jthread const goer([&] { book.reset(); });
  EXPECT_EQ(fault_of([&] { static_cast<void>(ending.get()); }), error_code::closed);
  go.count_down();
  EXPECT_EQ(std::move(step).get().what(), outcome::done);
  EXPECT_EQ(effects("load"), "1");
  EXPECT_EQ(seen().info.state, run_state::interrupted);
}

support::job waits_between_steps(daybook::book& book, int at, gate& here) {
  auto run = must_take(co_await book.start_async(process{"nightly"}, key{std::to_string(at)}));
  auto body = [](transaction& tx) { tx.exec("insert into effect(name) values ('before')"); };
  if (!co_await run.step_async("before", body)) throw std::runtime_error("lost");
  co_await here;
  auto then = [](transaction& tx) { tx.exec("insert into effect(name) values ('after')"); };
  if (!co_await run.step_async("after", then)) throw std::runtime_error("lost");
  if (!co_await std::move(run).finish_async()) throw std::runtime_error("lost");
}

TEST_P(asynchronous, no_transaction_is_open_while_coroutines_wait) {
  constexpr int many = 20;
  auto options = watched();
  options.connections = 4;
  auto book = database_.open(options);
  gate here(many);
  std::vector<support::job> all;
  for (int at = 0; at < many; ++at) all.push_back(waits_between_steps(book, at, here));
  here.wait_for_all();
  EXPECT_EQ(effects("before"), std::to_string(many));
  if (on_postgres()) {
    EXPECT_EQ(database_.query("select count(*) from pg_stat_activity where datname = "
                              "current_database() and state like 'idle in transaction%'"),
              "0");
  } else if (on_mariadb()) {
    // Those of this database: the server keeps its statistics in transactions, too.
    support::raw_connection root(std::getenv((GetParam().environment + "_ADMIN").c_str()));
    EXPECT_EQ(root.execute("select count(*) from information_schema.innodb_trx t "
                           "join information_schema.processlist p on p.id = t.trx_mysql_thread_id "
                           "where p.db = '" +
                           database_.query("select database()") + "'"),
              "0");
  }
  // Another writer gets all the rows, at once.
  support::raw_connection other(direct_url());
  if (on_sqlite()) {
    other.execute("pragma busy_timeout = 0");
    other.execute("begin immediate");
  } else {
    other.execute("begin");
    other.execute("select * from daybook_run for update nowait");
  }
  other.execute("update effect set name = name");
  other.execute("rollback");
  here.open();
  for (auto& one : all) one.get();
  EXPECT_EQ(effects("after"), std::to_string(many));
}

support::job whole_run(daybook::book& book, int at) {
  auto run = must_take(co_await book.start_async(process{"nightly"}, key{std::to_string(at)}));
  auto body = [at](transaction& tx) {
    tx.exec("insert into effect(name) values (:n)", std::to_string(at));
  };
  if (!co_await run.step_async("load", body)) throw std::runtime_error("lost");
  if (!co_await std::move(run).finish_async()) throw std::runtime_error("lost");
}

TEST_P(asynchronous, a_thousand_runs_on_three_connections) {
  constexpr int many = 1000;
  auto options = watched();
  options.connections = 3;
  auto book = database_.open(options);
  std::vector<support::job> all;
  for (int at = 0; at < many; ++at) all.push_back(whole_run(book, at));
  for (auto& one : all) one.get();
  EXPECT_EQ(database_.query("select count(distinct name) from effect"), std::to_string(many));
  EXPECT_EQ(database_.query("select count(*) from effect"), std::to_string(many));
  EXPECT_EQ(database_.query("select count(*) from daybook_run where state = 0"),
            std::to_string(many));
}

TEST_P(asynchronous, a_forked_child_is_told) {
  auto run = taken(book_.start_async(nightly_, day_).get());
  std::latch go(1);
  auto body = [&](transaction&) { go.wait(); };
  auto coming = run.step_async("wait", body);
  auto const pid = ::fork();
  if (pid == 0) {
    auto const forked = [](auto const& call) {
      try {
        call();
      } catch (daybook::error const& e) {
        return e.kind() == error_code::forked;
      }
      return false;
    };
    bool const told = forked([&] { static_cast<void>(book_.start_async(nightly_, day_)); }) &&
                      forked([&] { static_cast<void>(run.step_async("other", body)); }) &&
                      forked([&] { static_cast<void>(std::move(run).finish_async()); }) &&
                      forked([&] { static_cast<void>(std::move(coming).get()); });
    ::_exit(told ? 0 : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  go.count_down();
  EXPECT_TRUE(std::move(coming).get());
  EXPECT_TRUE(std::move(run).finish_async().get());
}

TEST_P(asynchronous, too_many_threads_are_refused) {
  auto options = watched();
  options.async_threads = 1001;
  EXPECT_EQ(fault_of([&] { static_cast<void>(database_.open(options)); }),
            error_code::bad_argument);
}

DAYBOOK_ON_EVERY_ENGINE(asynchronous);

}  // namespace
}  // namespace conformance
