// Queues that a node works with threads: what ends a handler early, what changes, what is kept.
#include "conformance/working.hpp"

#include <atomic>
#include <memory>

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

namespace conformance {
namespace {

using testing::HasSubstr;

TEST_P(working, threads_do_every_task_once) {
  auto q = book_.make_queue("many");
  q.import(keys(0, 500));
  node pool(book_);
  pool.work("many", [this](job& one) {
    saw(one.task().key);
    return result::success();
  });
  pool.start();
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 500; }));
  pool.stop();
  pool.stop();
  EXPECT_EQ(seen_.size(), 500U);
  EXPECT_EQ(std::set<std::string>(seen_.begin(), seen_.end()).size(), 500U);
  EXPECT_EQ(pool.counts("many").value().succeeded, 500);
  EXPECT_EQ(pool.counts("many").value().running, 0);
  EXPECT_EQ(q.counts().claims, 0);
}

TEST_P(working, what_a_handler_throws_is_its_failure) {
  auto q = book_.make_queue("throws", {.attempts = 1});
  auto once = book_.make_queue("throws once", {.mode = daybook::step_mode::at_most_once});
  q.import(keys(0, 2));
  once.import(keys(0, 1));
  node pool(book_);
  pool.work("throws", [](job& one) -> result {
    if (one.task().key == "k0") throw std::runtime_error("503");
    throw 7;
  });
  pool.work("throws once", [](job&) -> result { throw std::runtime_error("504"); });
  EXPECT_EQ(pool.drain(), 3);
  EXPECT_EQ(state_of(q, "k0"), task_state::dead);
  EXPECT_EQ(remark_of(q, "k0"), "503");
  EXPECT_THAT(remark_of(q, "k1"), HasSubstr("no std::exception"));
  EXPECT_EQ(state_of(once, "k0"), task_state::unknown);
  EXPECT_EQ(remark_of(once, "k0"), "504");
  EXPECT_EQ(pool.counts("throws").value().failed, 2);
  EXPECT_EQ(pool.counts("throws once").value().others, 1);
}

TEST_P(working, results_are_of_every_kind) {
  auto q = book_.make_queue("kinds", {.attempts = 3});
  q.import(keys(0, 4));
  node pool(book_);
  pool.work("kinds", [](job& one) {
    auto const& name = one.task().key;
    if (name == "k0") return result::snooze(1h);
    if (name == "k1") return result::cancel("never");
    if (name == "k2") return result::failure("later");
    return result::success("well");
  });
  EXPECT_EQ(pool.drain(), 4);
  auto const snoozed = q.find(key("k0")).value();
  EXPECT_EQ(snoozed.state, task_state::waiting);
  EXPECT_EQ(snoozed.attempts, 0);
  EXPECT_EQ(state_of(q, "k1"), task_state::discarded);
  EXPECT_EQ(q.find(key("k2")).value().attempts, 1);
  EXPECT_EQ(state_of(q, "k3"), task_state::succeeded);
  auto const counts = pool.counts("kinds").value();
  EXPECT_EQ(counts.succeeded, 1);
  EXPECT_EQ(counts.failed, 1);
  EXPECT_EQ(counts.others, 2);
}

TEST_P(working, a_handler_that_is_over_its_time_is_asked_to_stop) {
  auto q = book_.make_queue("slow", {.attempts = 1});
  q.import(keys(0, 3));
  node pool(book_);
  auto options = quickly(3);
  options.timeout = 300ms;
  auto const before = std::chrono::steady_clock::now();
  pool.work(
      "slow",
      [&](job& one) {
        if (one.task().key == "k2") {  // another's time is none of its own
          auto const why = one.why();
          bool const in_time = std::chrono::steady_clock::now() - before < options.timeout;
          EXPECT_TRUE(why == stop_reason::none || !in_time);
          return result::success();
        }
        EXPECT_EQ(asked(one), stop_reason::timeout);
        if (one.task().key == "k0") throw std::runtime_error("no answer");
        return result::success();
      },
      options);
  pool.start();
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded + q.counts().dead == 3; }));
  EXPECT_EQ(state_of(q, "k0"), task_state::dead);
  EXPECT_EQ(remark_of(q, "k0"), "timed out after 300ms: no answer");
  EXPECT_EQ(state_of(q, "k1"), task_state::succeeded) << "what is done is done";
}

TEST_P(working, of_a_lost_claim_a_handler_hears_and_writes_nothing) {
  auto q = book_.make_queue("lost");
  auto heirs = other_.queue("lost").value();
  q.import(keys(0, 1));
  std::atomic<bool> begun = false;
  std::atomic<int> attempts = 0;
  node pool(book_);
  pool.work(
      "lost",
      [&](job& one) {
        if (++attempts > 1) return result::success();
        begun = true;
        EXPECT_EQ(asked(one), stop_reason::lost);
        EXPECT_EQ(one.perform(insert("paid")), outcome::lost);
        EXPECT_TRUE(one.finished());
        return result::success();
      },
      quickly(1));
  pool.start();
  EXPECT_TRUE(comes_true([&] { return begun.load(); }));
  clock_.advance(1h);
  EXPECT_TRUE(takes_back(heirs));
  static_cast<void>(daybook::testing::renew(book_));
  EXPECT_TRUE(comes_true([&] { return pool.counts("lost").value().lost == 1; }));
  EXPECT_EQ(effects("paid"), "0");
  pool.stop();
}

TEST_P(working, a_stop_asks_the_handlers_and_hands_back_the_rest) {
  auto q = book_.make_queue("stopped");
  q.import(keys(0, 40));
  node pool(book_);
  std::atomic<int> begun = 0;
  pool.work(
      "stopped",
      [&](job& one) {
        bool const first = begun++ == 0;
        EXPECT_EQ(asked(one), stop_reason::closing);
        if (first) return result::success();  // one that ends what it has begun
        one.hand_back();
        return result::failure("not looked at");
      },
      quickly(2));
  pool.start();
  EXPECT_TRUE(comes_true([&] { return begun == 2; }));
  EXPECT_EQ(pool.counts("stopped").value().running, 2);
  pool.stop();
  EXPECT_EQ(begun, 2);
  auto const counts = q.counts();
  EXPECT_EQ(counts.succeeded, 1);
  EXPECT_EQ(counts.waiting, 39);
  EXPECT_EQ(counts.claims, 0);
  EXPECT_EQ(pool.counts("stopped").value().handed_back, 1);
  for (auto const& one : q.tasks({.state = task_state::waiting})) EXPECT_EQ(one.attempts, 0);
  EXPECT_EQ(fault_of([&] { pool.work("stopped", succeed); }), error_code::bad_argument);
}

TEST_P(working, another_handler_takes_over_while_the_first_has_something_in_hand) {
  auto q = book_.make_queue("changed");
  q.import(keys(0, 1));
  node pool(book_);
  std::atomic<bool> begun = false;
  std::atomic<bool> go_on = false;
  std::atomic<int> old_ones = 0;
  pool.work(
      "changed",
      [&](job&) {
        ++old_ones;
        begun = true;
        EXPECT_TRUE(comes_true([&] { return go_on.load(); }));
        return result::success();
      },
      quickly(2));
  pool.start();
  EXPECT_TRUE(comes_true([&] { return begun.load(); }));
  pool.work_in_batches(
      "changed",
      [this](job_batch& all) {
        for (std::size_t i = 0; i < all.size(); ++i) {
          saw(all.task(i).key);
          all.finish(i, result::success());
        }
      },
      quickly(3));
  q.import(keys(1, 50));
  EXPECT_TRUE(comes_true([&] { return seen() == 49; })) << "nobody waits for the first";
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 49; }));
  go_on = true;
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 50; }));
  EXPECT_EQ(old_ones, 1);
  pool.work("changed", succeed, quickly(1));
  q.import(keys(50, 60));
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 60; }));
  EXPECT_EQ(seen(), 49U);
}

TEST_P(working, one_that_leaves_finishes_and_gives_the_rest_to_others) {
  auto q = book_.make_queue("left");
  q.import(keys(0, 30));
  node pool(book_);
  std::atomic<int> begun = 0;
  pool.work(
      "left",
      [&](job& one) {
        ++begun;
        EXPECT_TRUE(comes_true([&] { return begun >= 2; }));
        EXPECT_EQ(one.why(), stop_reason::none);
        return result::success();
      },
      quickly(2));
  pool.start();
  EXPECT_TRUE(comes_true([&] { return begun >= 2; }));
  pool.leave("left");
  pool.leave("left");
  EXPECT_FALSE(pool.counts("left"));
  EXPECT_EQ(q.counts().claims, 0);
  EXPECT_EQ(q.counts().succeeded, begun);
  pool.work("left", succeed);
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 30; }));
}

TEST_P(working, limits_hold_over_two_nodes) {
  auto q = book_.make_queue("limited", {.running_limit = 3});
  q.import(keys(0, 40));
  node first(book_);
  node second(other_);
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  for (auto* const one : {&first, &second}) {
    one->work(
        "limited",
        [&](job&) {
          auto const now = ++running;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::sleep_for(1ms);
          --running;
          return result::success();
        },
        quickly(4));
    one->start();
  }
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 40; }));
  EXPECT_LE(most, 3);
  EXPECT_GE(most, 1);
}

TEST_P(working, an_end_makes_room_for_what_a_limit_or_an_order_held_back) {
  // Nobody rings for it: each of them would wait for a poll of its own.
  auto limited = book_.make_queue("limited", {.running_limit = 1});
  auto ordered = book_.make_queue("ordered", {.in_order = true});
  limited.import(keys(0, 12));
  std::vector<daybook::entry> series;
  for (int i = 0; i < 12; ++i) series.push_back({key("all/" + std::to_string(i))});
  ordered.import(series);
  node works(book_);
  for (auto const* const name : {"limited", "ordered"}) {
    works.work(name,
               [](job&) {
                 std::this_thread::sleep_for(10ms);
                 return result::success();
               },
               {.threads = 4, .claims = {.poll = 20s}});
  }
  works.start();
  EXPECT_TRUE(comes_true(
      [&] { return limited.counts().succeeded == 12 && ordered.counts().succeeded == 12; }));
}

TEST_P(working, what_its_own_end_put_back_is_begun_when_it_is_due) {
  auto q = book_.make_queue("again", {.attempts = 3, .backoff = 1s});
  q.import(keys(0, 1));
  node works(book_);
  std::atomic<int> calls = 0;
  works.work("again",
             [&](job&) {
               std::this_thread::sleep_for(300ms);  // the claimer lies down meanwhile
               return ++calls < 2 ? result::failure("not yet") : result::success();
             },
             {.threads = 4, .claims = {.poll = 10min}});
  works.start();
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 1; }));
}

TEST_P(working, a_rate_that_was_raised_is_in_force_at_once) {
  auto q = book_.make_queue("rated", {.rate = daybook::rate{1, 1h}});
  q.import(keys(0, 2));
  auto first = q.claim({.limit = 1});
  ASSERT_TRUE(first);
  EXPECT_EQ(std::move(*first).complete(), outcome::done);
  EXPECT_FALSE(q.claim());
  q = book_.make_queue("rated", {.rate = daybook::rate{100, 1s}});
  EXPECT_TRUE(q.claim());
}

TEST_P(working, a_rate_holds_over_two_nodes) {
  auto q = book_.make_queue("rated", {.rate = daybook::rate{20, 1s}});
  auto const before = std::chrono::steady_clock::now();
  q.import(keys(0, 12));
  node first(book_);
  node second(other_);
  std::mutex guard;
  std::vector<std::chrono::steady_clock::time_point> starts;
  for (auto* const one : {&first, &second}) {
    one->work(
        "rated",
        [&](job&) {
          std::lock_guard const lock(guard);
          starts.push_back(std::chrono::steady_clock::now());
          return result::success();
        },
        quickly(4));
    one->start();
  }
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 12; }));
  first.stop();
  second.stop();
  ASSERT_EQ(starts.size(), 12U);
  auto const last = *std::max_element(starts.begin(), starts.end());
  EXPECT_GE(last - before, 500ms) << "eleven times 50 ms";
}

TEST_P(working, upkeep_is_done_once_a_day_by_one_of_the_nodes) {
  clock_.stop_at(std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + 12h);
  database_.execute("create table product(code int not null primary key)" + innodb());
  database_.execute("insert into product values (7)");
  auto q = book_.make_queue("kept");
  static_cast<void>(q.follow({.table = "product", .key = "code"}));
  book_.make_queue("not kept");
  auto here = database_.open(watched(24h));  // longer than the night that goes by
  auto elsewhere = database_.open(watched(24h));
  node first(here);
  node second(elsewhere);
  for (auto* const one : {&first, &second}) {
    one->work("kept", succeed, quickly(1));
    one->work("not kept", succeed, {.threads = 1, .claims = quick(), .upkeep = false});
    one->start();
  }
  process const upkeep("upkeep");
  auto const done = [&](char const* day) {
    first.wake();
    second.wake();
    auto const found = book_.find(upkeep, key(day));
    return found && found->info.state == run_state::succeeded;
  };
  daybook::testing::arm("upkeep.begun", failpoint_action::fail);
  EXPECT_TRUE(comes_true([&] { return done("kept/2026-11-21"); }));
  clock_.advance(12h);
  EXPECT_TRUE(comes_true([&] { return done("kept/2026-11-22"); }));
  first.stop();
  second.stop();
  EXPECT_EQ(log_.count("retried upkeep"), 1U) << "the first attempt failed, and was told";
  EXPECT_EQ(log_.count("finished upkeep/"), 2U);
  EXPECT_EQ(book_.find(upkeep, key("kept/2026-11-21"))->info.attempt, 2);
  EXPECT_EQ(book_.find(upkeep, key("kept/2026-11-22"))->info.attempt, 1);
  EXPECT_FALSE(book_.find(upkeep, key("not kept/2026-11-21")));
  EXPECT_TRUE(q.find(key("7"))) << "it was compared with the table that it follows";
}

TEST_P(working, upkeep_is_done_though_the_table_that_is_followed_is_gone) {
  database_.execute("create table product(code int not null primary key)" + innodb());
  auto q = book_.make_queue("kept");
  static_cast<void>(q.follow({.table = "product", .key = "code"}));
  database_.execute("drop table product");
  node one(book_);
  one.work("kept", succeed, quickly(1));
  one.start();
  one.wake();
  EXPECT_TRUE(comes_true([&] { return log_.count("failed upkeep/") == 1; }));
  one.stop();
  EXPECT_EQ(log_.count("step_done upkeep/"), 1U) << "upkeep, and no comparison";
}

/// Stands still in the middle of upkeep, until it is let go.
class slow_upkeep final : public daybook::observer {
 public:
  void timed(std::string_view transaction, std::chrono::microseconds) noexcept override {
    if (transaction != "upkeep") return;
    ++pieces;
    goes_on.wait(false);
  }
  void let_go() noexcept {
    goes_on = true;
    goes_on.notify_all();
  }

  std::atomic<int> pieces = 0;
  std::atomic<bool> goes_on = false;
};

TEST_P(working, a_stop_waits_for_a_piece_of_upkeep_and_not_for_all) {
  clock_.stop_at(std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + 12h);
  slow_upkeep watch;
  auto options = watched(30min);
  options.observer = &watch;
  auto book = database_.open(options);
  auto q = book.make_queue("kept", {.segment = 1});
  q.import(keys(0, 5000), {.at = std::chrono::sys_days{std::chrono::year{9000} / 1 / 1}});
  node one(book);
  std::atomic<bool> begun = false;
  // Who sees that it is to stop, comes after the thread of upkeep was told.
  one.work(
      "kept",
      [&](job& by) {
        begun = true;
        asked(by);
        watch.let_go();
        return result::success();
      },
      quickly(1));
  one.start();
  std::unique_ptr<slow_upkeep, void (*)(slow_upkeep*)> const at_last(
      &watch, [](slow_upkeep* of) { of->let_go(); });
  one.wake();
  EXPECT_TRUE(comes_true([&] { return watch.pieces > 0; }));
  q.add(key("now"));  // nothing is locked while somebody is told
  EXPECT_TRUE(comes_true([&] { return begun.load(); }));
  one.stop();
  EXPECT_EQ(watch.pieces, 1);
  auto const run = book.find(process("upkeep"), key("kept/2026-11-21")).value();
  EXPECT_EQ(run.info.state, run_state::interrupted) << "another node goes on";
}

TEST_P(working, in_a_child_of_fork_there_are_no_threads) {
  auto q = book_.make_queue("forked");
  q.import(keys(0, 1));
  auto pool = std::make_unique<node>(book_);
  std::atomic<bool> begun = false;
  std::atomic<bool> go_on = false;
  pool->work("forked", [&](job&) {
    begun = true;
    EXPECT_TRUE(comes_true([&] { return go_on.load(); }));
    return result::success();
  });
  pool->start();
  EXPECT_TRUE(comes_true([&] { return begun.load(); }));
  auto const child = ::fork();
  if (child == 0) {
    bool const refused =
        fault_of([&] { static_cast<void>(pool->drain()); }) == error_code::forked &&
        fault_of([&] { pool->work("forked", succeed); }) == error_code::forked &&
        fault_of([&] { pool->leave("forked"); }) == error_code::forked;
    pool->stop();
    pool.reset();
    ::_exit(refused ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  go_on = true;
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 1; }));
}

TEST_P(working, mistakes_are_refused) {
  book_.make_queue("known");
  node pool(book_);
  auto const refused = [&](std::string_view name, work_options const& options) {
    return fault_of([&] { pool.work(name, succeed, options); }) == error_code::bad_argument;
  };
  EXPECT_TRUE(refused("unknown", {}));
  EXPECT_TRUE(refused("", {}));
  EXPECT_TRUE(refused("known", {.threads = 0}));
  EXPECT_TRUE(refused("known", {.threads = 1001}));
  EXPECT_TRUE(refused("known", {.timeout = -1ms}));
  EXPECT_TRUE(refused("known", {.timeout = std::chrono::milliseconds::max()}));
  EXPECT_TRUE(refused("known", {.batch = 0}));
  EXPECT_TRUE(refused("known", {.batch = 10001}));
  EXPECT_TRUE(refused("known", {.gather = -1ms}));
  EXPECT_TRUE(refused("known", {.claims = {.batch = 0}}));
  EXPECT_EQ(fault_of([&] { pool.work("known", {}); }), error_code::bad_argument);
  EXPECT_EQ(fault_of([&] { pool.work_in_batches("known", {}); }), error_code::bad_argument);
  EXPECT_FALSE(pool.counts("known"));
  pool.work("known", succeed);
  EXPECT_TRUE(refused("known", {.threads = 0})) << "and what it had stays";
  EXPECT_TRUE(pool.counts("known"));
}

DAYBOOK_ON_EVERY_ENGINE(working);

}  // namespace
}  // namespace conformance
