// A book that becomes an older copy of itself under living processes, as after a fail-over to a
// server that was behind, or a restore: its rows are put back as they were. Nothing goes on over
// what was lost, nothing is stuck, and nothing is done by another queue's handler.
#include "conformance/fixture.hpp"
#include "conformance/waiting.hpp"

#include <daybook/node.hpp>
#include <daybook/queue.hpp>

#include <atomic>
#include <future>
#include <set>

namespace conformance {
namespace {

using daybook::result;
using daybook::task_state;

class set_back : public on_engine {
 protected:
  set_back() { clock_.stop_at(clock_.now()); }

  /// What a server that is behind knows.
  void copy() {
    for (auto const& table : tables()) {
      database_.execute("create table kept_" + table + " as select * from " + table);
    }
  }
  void put_back() {
    for (auto const& table : tables()) {
      database_.execute("delete from " + table);
      database_.execute("insert into " + table + (on_postgres() ? " overriding system value" : "") +
                        " select * from kept_" + table);
    }
  }
  void forget_copy() {
    for (auto const& table : tables()) database_.execute("drop table kept_" + table);
  }
  static std::vector<daybook::entry> keys(int count) {
    std::vector<daybook::entry> out;
    for (int i = 0; i < count; ++i) out.push_back({key("k" + std::to_string(i))});
    return out;
  }
  /// Does it at one instant of the book, while others work.
  void at_one_instant(std::vector<std::string> const& statements) {
    std::string all;
    for (auto const& table : tables()) {
      for (std::string const prefix : {"", "kept_"}) {
        all += (all.empty() ? "" : ", ") + prefix + table + (on_mariadb() ? " write" : "");
      }
    }
    // Where another has locks that it waits with, it is tried again.
    EXPECT_TRUE(comes_true([&] {
      support::raw_connection on(database_.url());
      try {
        if (on_postgres()) on.execute("begin");
        on.execute((on_mariadb() ? "lock tables " : "lock table ") + all);
        for (auto const& one : statements) on.execute(one);
        on.execute(on_mariadb() ? "unlock tables" : "commit");
        return true;
      } catch (std::exception const&) {
        return false;
      }
    }));
  }
  void dump() {
    std::vector<std::string> statements;
    for (auto const& table : tables()) {
      database_.execute("create table kept_" + table + " as select * from " + table +
                        " where 1 = 0");
      statements.push_back("insert into kept_" + table + " select * from " + table);
    }
    at_one_instant(statements);
  }
  void restore() {
    std::vector<std::string> statements;
    for (auto const& table : tables()) {
      statements.push_back("delete from " + table);
      statements.push_back("insert into " + table +
                           (on_postgres() ? " overriding system value" : "") +
                           " select * from kept_" + table);
    }
    at_one_instant(statements);
  }
  /// What is done by claims of this queue, of suspects first: the keys.
  static std::multiset<std::string> finish_all(daybook::queue of) {
    std::multiset<std::string> out;
    for (bool const suspects : {true, false}) {
      while (auto batch = of.claim({.limit = 100, .quarantined = suspects})) {
        for (auto const& one : batch->tasks()) {
          out.insert(one.key);
          batch->finish(one, result::success());
        }
        EXPECT_EQ(std::move(*batch).complete(), outcome::done);
      }
    }
    return out;
  }

  daybook::book other_{database_.open()};
  daybook::testing::manual_clock clock_{book_};

 private:
  static std::vector<std::string> tables() {
    std::vector<std::string> out{"effect"};
    for (auto const* const one :
         {"holder", "run", "step", "attempt", "intent", "carry", "member_id", "member", "segment",
          "claim", "done", "outcome", "request", "schedule", "tick", "series"}) {
      out.push_back(std::string("daybook_") + one);
    }
    return out;
  }
};

TEST_P(set_back, a_run_that_lost_a_step_does_not_succeed) {
  for (bool const by_another_step : {false, true}) {
    key const piece(by_another_step ? "step" : "finish");
    std::string const lost = by_another_step ? "b" : "a";
    auto run = taken(book_.start(nightly_, piece));
    ASSERT_TRUE(run.step("s1", insert("s1")));
    copy();
    ASSERT_TRUE(run.step("s2", insert(lost.c_str())));
    put_back();
    if (by_another_step) {
      EXPECT_FALSE(run.step("s3", insert("s3")));
    }
    EXPECT_FALSE(std::move(run).finish());

    auto again = taken(book_.start(nightly_, piece));  // it is not stuck while this process lives
    EXPECT_EQ(again.attempt(), 2);
    EXPECT_TRUE(again.done("s1"));
    EXPECT_FALSE(again.done("s2"));
    EXPECT_TRUE(again.step("s2", insert(lost.c_str())));
    EXPECT_TRUE(std::move(again).finish());
    EXPECT_EQ(effects(lost), "1");
    EXPECT_EQ(effects("s3"), "0");
    EXPECT_EQ(log_.count("set_back"), by_another_step ? 2U : 1U);
    database_.execute("delete from effect");
    forget_copy();
  }
}

TEST_P(set_back, what_is_recorded_of_outside_is_seen_to_be_missing) {
  auto run = taken(book_.start(nightly_, day_));
  copy();
  ASSERT_TRUE(run.set_value("cursor", "7"));
  put_back();
  EXPECT_FALSE(run.at_least_once("send", [](daybook::effect const&) {}));
  forget_copy();
  auto again = taken(book_.start(nightly_, day_));
  EXPECT_FALSE(again.stored_value("cursor"));
  copy();
  ASSERT_TRUE(again.at_least_once("send", [](daybook::effect const&) {}));
  put_back();
  EXPECT_FALSE(again.set_value("cursor", "8"));
  EXPECT_FALSE(std::move(again).finish());
}

TEST_P(set_back, a_lost_reply_does_not_hide_what_was_lost_before_it) {
  auto run = taken(book_.start(nightly_, day_));
  copy();
  ASSERT_TRUE(run.step("s1", insert("s1")));
  daybook::testing::arm("step.committed", failpoint_action::cut);
  EXPECT_TRUE(run.step("s2", insert("s2")));  // found by the fence that went on
  EXPECT_EQ(log_.count("doubt_resolved step yes"), 1U);
  put_back();
  EXPECT_FALSE(std::move(run).finish());
}

TEST_P(set_back, a_run_whose_end_was_lost_is_resumed_though_its_process_lives) {
  for (bool const renewed : {false, true}) {
    key const piece(renewed ? "older" : "newer");
    auto run = taken(book_.start(nightly_, piece));
    copy();
    if (renewed) {
      EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
    }
    ASSERT_TRUE(run.step("s1", insert("s1")));
    ASSERT_TRUE(std::move(run).finish());
    if (renewed) {
      EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
    }
    put_back();
    EXPECT_EQ(other_.start(nightly_, piece).why(), start_refusal::running_elsewhere);
    EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::lost);
    auto heir = taken(other_.start(nightly_, piece));
    EXPECT_EQ(heir.attempt(), 2);
    EXPECT_FALSE(heir.done("s1"));
    EXPECT_TRUE(std::move(heir).finish());
    forget_copy();
  }
  EXPECT_EQ(log_.count("set_back"), 2U);
  EXPECT_TRUE(taken(book_.start(nightly_, day_)).finish());
}

TEST_P(set_back, where_nothing_was_lost_everything_goes_on) {
  auto q = book_.make_queue("calls");
  q.import(keys(3));
  auto run = taken(book_.start(nightly_, day_));
  ASSERT_TRUE(run.step("s1", insert("s1")));
  ASSERT_TRUE(taken(book_.start(nightly_, key("ended"))).finish());
  auto batch = q.claim({.limit = 2}).value();
  ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  copy();
  put_back();
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  EXPECT_TRUE(run.step("s2", insert("s2")));
  EXPECT_TRUE(std::move(run).finish());
  for (auto const& one : batch.tasks()) batch.finish(one, result::success());
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  EXPECT_EQ(log_.count("set_back"), 0U);
}

TEST_P(set_back, tasks_whose_end_was_lost_are_done_again_though_their_process_lives) {
  auto q = book_.make_queue("calls");
  q.import(keys(5));
  auto batch = q.claim({.limit = 5}).value();
  copy();
  for (auto const& one : batch.tasks()) batch.finish(one, result::success());
  ASSERT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  ASSERT_EQ(q.counts().succeeded, 5);
  put_back();
  EXPECT_EQ(q.counts().running, 5);
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::lost);
  EXPECT_EQ(finish_all(q).size(), 5U);
  EXPECT_EQ(q.counts().succeeded, 5);
}

// The renewal itself is not lost, only what came after it.
TEST_P(set_back, a_claim_whose_end_alone_was_lost_is_found) {
  auto q = book_.make_queue("calls");
  q.import(keys(5));
  auto batch = q.claim({.limit = 5}).value();
  ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  copy();
  for (auto const& one : batch.tasks()) batch.finish(one, result::success());
  auto turn = std::move(batch).complete_and_claim(5);
  ASSERT_EQ(turn.ended, outcome::done);
  put_back();
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::lost);
  EXPECT_EQ(finish_all(q).size(), 5U);
}

TEST_P(set_back, a_claim_that_was_lost_finishes_nothing) {
  auto q = book_.make_queue("calls");
  q.import(keys(3));
  copy();
  auto batch = q.claim({.limit = 3}).value();
  put_back();
  batch.finish(batch.tasks()[0], result::success());
  EXPECT_EQ(std::move(batch).complete(), outcome::lost);
  EXPECT_EQ(finish_all(q).size(), 3U);
}

TEST_P(set_back, a_task_whose_effect_was_lost_is_done_again) {
  auto q = book_.make_queue("payments");
  q.import(keys(2));
  auto batch = q.claim({.limit = 2}).value();
  auto const pay = [](daybook::task const& one) {
    return [&one](transaction& tx) { tx.exec("insert into effect(name) values (:n)", one.key); };
  };
  ASSERT_EQ(batch.perform(batch.tasks()[0], pay(batch.tasks()[0])), outcome::done);
  copy();
  ASSERT_EQ(batch.perform(batch.tasks()[1], pay(batch.tasks()[1])), outcome::done);
  put_back();
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  auto rest = q.claim({.limit = 2}).value();
  ASSERT_EQ(rest.tasks().size(), 1U);
  EXPECT_EQ(rest.perform(rest.tasks()[0], pay(rest.tasks()[0])), outcome::done);
  EXPECT_EQ(std::move(rest).complete(), outcome::done);
  EXPECT_EQ(effects("k0"), "1");
  EXPECT_EQ(effects("k1"), "1");
}

// Two have the same block of ids then: one from before, in memory.
TEST_P(set_back, an_id_that_is_given_out_twice_is_nobodys_but_its_queues) {
  auto calls = book_.make_queue("calls");
  auto mails = other_.make_queue("mails", {.segment = 100});
  copy();
  ASSERT_TRUE(calls.add(key("lost")));
  put_back();
  mails.import(keys(20));
  ASSERT_TRUE(mails.remove(key("k1")));
  ASSERT_TRUE(mails.remove(key("k2")));
  for (auto const* const name : {"a", "b", "c", "d"}) EXPECT_TRUE(calls.add(key(name)));
  auto const mailed = finish_all(mails);
  EXPECT_EQ(mailed.size(), 18U);
  EXPECT_FALSE(calls.find(key("a"))->finished);
  EXPECT_TRUE(calls.outcomes(key("a")).empty());
  for (auto const* const name : {"a", "b", "c", "d"}) EXPECT_FALSE(mailed.contains(name));
  EXPECT_EQ(finish_all(calls), (std::multiset<std::string>{"a", "b", "c", "d"}));
}

TEST_P(set_back, who_knows_of_it_takes_other_ids) {
  auto calls = book_.make_queue("calls");
  auto mails = other_.make_queue("mails");
  auto const run = taken(book_.start(nightly_, day_));
  copy();
  ASSERT_TRUE(calls.add(key("lost")));
  ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  put_back();
  mails.import(keys(20));
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::lost);
  ASSERT_TRUE(calls.add(key("a")));
  EXPECT_GT(calls.find(key("a"))->id, mails.find(key("k19"))->id);
}

TEST_P(set_back, a_tick_whose_end_was_lost_is_done_again) {
  daybook::node first(book_);
  daybook::node second(other_);
  int done = 0;
  int copied = 0;
  auto const leads = book_.make_schedule("leads", daybook::cron("* * * * *"));
  for (auto* const node : {&first, &second}) {
    node->serve("leads", [&](daybook::tick&) {
      if (copied++ == 0) copy();
      ++done;
    });
  }
  clock_.advance(1min);
  ASSERT_EQ(first.drain(), 1);
  ASSERT_EQ(done, 1);
  put_back();
  EXPECT_EQ(second.drain(), 0);
  EXPECT_EQ(daybook::testing::renew(book_), daybook::lease_state::lost);
  EXPECT_EQ(second.drain(), 1);
  EXPECT_EQ(done, 2);
  EXPECT_EQ(leads.ticks().front().state, daybook::tick_state::done);
  clock_.advance(1min);
  EXPECT_EQ(first.drain(), 1);
}

// Nobody renews by hand here, nor looks: workers and runs of two processes go on by themselves.
TEST_P(set_back, a_restore_under_live_workers_loses_nothing) {
  if (on_sqlite()) return;  // whose file is replaced by nobody who lives
  constexpr int tasks = 200;
  constexpr int ends = 12;
  std::atomic<int> begun = 0;
  std::atomic<bool> dumped = false;
  std::atomic<bool> restored = false;
  auto const wait_at = [&](int count, int first, int second) {
    EXPECT_TRUE(comes_true(
        [&] { return (count <= first || dumped.load()) && (count <= second || restored.load()); }));
  };
  auto options = watched(1500ms);
  options.renew_in_background = true;
  auto here = database_.open(options);
  auto there = database_.open(options);
  auto q = here.make_queue("calls", {.attempts = 100, .backoff = 0ms, .crash_limit = 100});
  q.import(keys(tasks));
  daybook::node first(here);
  daybook::node second(there);
  for (auto* const node : {&first, &second}) {
    node->work("calls",
               [&](daybook::job& job) {
                 wait_at(++begun, tasks / 4, tasks / 2);
                 job.perform([&](transaction& tx) {
                   tx.exec("insert into effect(name) values (:n)", job.task().key);
                 });
                 return result::success();
               },
               {.threads = 2, .claims = {.flush_every = 100ms, .poll = 20ms}});
    node->start();
  }
  auto const do_run = [&](int at) {
    try {
      auto got = here.start(nightly_, key("run " + std::to_string(at)), {.once = true});
      if (!got) return got.why() == start_refusal::done_before;
      auto run = std::move(got).take();
      wait_at(at, ends / 3, ends);
      if (!run.step("one", insert("run"))) return false;
      wait_at(at, ends, 2 * ends / 3);
      return run.step("two", insert("run")) && std::move(run).finish();
    } catch (daybook::error const& e) {
      if (!e.retryable()) throw;
      return false;
    }
  };
  auto const runs = std::async(std::launch::async, [&] {
    for (int at = 0; at < ends; ++at) EXPECT_TRUE(comes_true([&] { return do_run(at); }));
  });
  EXPECT_TRUE(comes_true([&] { return begun > tasks / 4; }));
  dump();
  dumped = true;
  EXPECT_TRUE(comes_true([&] { return begun > tasks / 2; }));
  restore();
  restored = true;
  runs.wait();
  for (int at = 0; at < ends; ++at) EXPECT_TRUE(comes_true([&] { return do_run(at); }));
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == tasks; }));
  first.stop();
  second.stop();
  EXPECT_EQ(effects("run"), std::to_string(2 * ends));
  EXPECT_EQ(database_.query("select count(*) from effect where name <> 'run'"),
            std::to_string(tasks));
  EXPECT_EQ(database_.query("select count(distinct name) from effect where name <> 'run'"),
            std::to_string(tasks));
  // Whoever renewed and ended nothing in between has lost nothing, and goes on.
  EXPECT_GE(log_.count("set_back"), 1U);
}

DAYBOOK_ON_EVERY_ENGINE(set_back);

}  // namespace
}  // namespace conformance
