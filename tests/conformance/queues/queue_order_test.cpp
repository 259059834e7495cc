// Queues in order: of each series one task at a time, in the order in which they were added,
// whoever claims, fails, dies or is cut off.
#include "conformance/handing.hpp"

#include <daybook/planner.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace conformance {
namespace {

using daybook::queue;
using daybook::queue_options;
using daybook::result;
using daybook::task_state;

using names = std::vector<std::string>;

class in_order : public handing {
 protected:
  queue make(queue_options how = {}) {
    how.in_order = true;
    return book_.make_queue("events", how);
  }
  static void come(queue& to, names const& all) {
    for (auto const& one : all) EXPECT_TRUE(to.add(key(one)));
  }
  static names in(std::optional<daybook::claim> const& batch) {
    names out;
    if (!batch) return out;
    for (auto const& one : batch->tasks()) out.push_back(one.key);
    std::sort(out.begin(), out.end());
    return out;
  }
  static outcome end(std::optional<daybook::claim> batch, result const& how) {
    for (auto const& one : batch.value().tasks()) batch->finish(one, how);
    return std::move(*batch).complete();
  }
  static task_state state(queue const& of, std::string const& name) {
    return of.find(key(name)).value().state;
  }
};

TEST_P(in_order, the_first_of_each_series_and_then_the_next) {
  auto q = make();
  come(q, {"a/1", "a/2", "b/1", "a/3", "b/2", "alone"});
  auto first = q.claim();
  EXPECT_EQ(in(first), (names{"a/1", "alone", "b/1"}));
  EXPECT_FALSE(q.claim().has_value()) << "those behind them wait";
  first->finish(first->tasks()[0], result::success());
  EXPECT_EQ(std::move(*first).complete(), outcome::done);
  EXPECT_EQ(in(q.claim()), (names{"a/2", "alone", "b/1"})) << "what was handed back is first still";
  EXPECT_EQ(in(q.claim({.limit = 1})), (names{"a/2"})) << "the oldest, by its id";
  EXPECT_EQ(end(q.claim(), result::success()), outcome::done);
  EXPECT_EQ(end(q.claim(), result::success()), outcome::done);
  EXPECT_FALSE(q.claim().has_value());
  EXPECT_EQ(q.counts().succeeded, 6);
  EXPECT_EQ(rows_of("series"), "0");
}

TEST_P(in_order, a_series_is_a_key_up_to_its_last_slash) {
  auto q = make();
  come(q, {"x/1/a", "x/2/a", "x/1/b", "x/1", "x/", "/y", "/z", "é/1", "é/2"});
  EXPECT_EQ(in(q.claim()), (names{"/y", "x/1", "x/1/a", "x/2/a", "é/1"}));
}

TEST_P(in_order, it_is_the_time_of_adding_that_counts_not_the_process) {
  auto q = make();
  auto const theirs = other_.queue("events");
  ASSERT_TRUE(theirs.has_value());
  auto other = *theirs;
  come(q, {"z/1"});  // each process takes its block of ids
  come(other, {"z/2"});
  for (int i = 0; i < 5; ++i) {
    clock_.advance(1s);
    come(i % 2 == 0 ? other : q, {"a/" + std::to_string(i)});
  }
  std::vector<daybook::entry> more;
  for (int i = 5; i < 40; ++i) more.push_back({key("a/" + std::to_string(i))});
  clock_.advance(1s);
  EXPECT_EQ(q.import(more).added, 35);
  names got;
  while (auto batch = q.claim()) {
    for (auto const& one : batch->tasks()) {
      if (one.key[0] == 'a') got.push_back(one.key);
      batch->finish(one, result::success());
    }
    std::move(*batch).complete();
  }
  ASSERT_EQ(got.size(), 40U);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], "a/" + std::to_string(i));
}

TEST_P(in_order, keys_that_are_there_already_leave_no_hole) {
  auto q = make();
  come(q, {"a/2"});
  EXPECT_EQ(q.import({{key("a/1")}, {key("a/2")}, {key("a/3")}, {key("b/1")}}).added, 3);
  EXPECT_EQ(q.counts().waiting, 4);
  EXPECT_EQ(in(q.claim()), (names{"a/2", "b/1"}));
}

TEST_P(in_order, who_fails_or_is_dead_holds_up_those_behind) {
  auto q = make({.attempts = 2});
  come(q, {"a/1", "a/2", "b/1"});
  EXPECT_EQ(end(q.claim(), result::failure("no")), outcome::done);
  EXPECT_FALSE(q.claim().has_value()) << "it will be tried again";
  clock_.advance(1min);
  EXPECT_EQ(end(q.claim(), result::failure("no")), outcome::done);
  EXPECT_EQ(state(q, "a/1"), task_state::dead);
  clock_.advance(1h);
  EXPECT_FALSE(q.claim().has_value());
  EXPECT_TRUE(q.retry(key("a/1")));
  EXPECT_EQ(in(q.claim()), (names{"a/1"}));
  EXPECT_TRUE(q.discard(key("a/1")));
  EXPECT_EQ(in(q.claim()), (names{"a/2"})) << "nobody wants the one before";
}

TEST_P(in_order, what_is_done_again_is_last) {
  auto q = make();
  come(q, {"a/1", "a/2", "a/3"});
  EXPECT_EQ(end(q.claim(), result::success()), outcome::done);
  clock_.advance(1s);
  EXPECT_TRUE(q.retry(key("a/1")));
  for (auto const* name : {"a/2", "a/3", "a/1"}) {
    auto batch = q.claim();
    EXPECT_EQ(in(batch), names{name});
    EXPECT_EQ(end(std::move(batch), result::success()), outcome::done);
  }
  EXPECT_FALSE(q.claim().has_value());
}

TEST_P(in_order, many_behind_one_do_not_hide_the_others) {
  auto q = make();
  std::vector<daybook::entry> all;
  for (int i = 0; i < 30; ++i) all.push_back({key("a/" + std::to_string(i))});
  q.import(all);
  clock_.advance(1s);
  come(q, {"b/1", "b/2", "c/1"});
  auto first = q.claim({.limit = 1});
  EXPECT_EQ(in(first), (names{"a/0"}));
  EXPECT_EQ(in(q.claim({.limit = 5})), (names{"b/1", "c/1"})) << "behind more than it looks at";
  auto const second = q.claim({.limit = 1});
  auto const third = q.claim({.limit = 1});
  EXPECT_EQ(in(second), (names{"b/1"}));
  EXPECT_EQ(in(third), (names{"c/1"}));
  EXPECT_FALSE(q.claim().has_value());
}

TEST_P(in_order, who_snoozes_is_cancelled_unknown_or_removed) {
  auto q = make({.mode = daybook::step_mode::at_most_once});
  come(q, {"a/1", "a/2", "b/1", "b/2", "c/1", "c/2"});
  auto batch = q.claim();
  ASSERT_EQ(in(batch), (names{"a/1", "b/1", "c/1"}));
  for (auto const& one : batch->tasks()) {
    batch->finish(one, one.key == "a/1"   ? result::snooze(1h)
                       : one.key == "b/1" ? result::cancel("not wanted")
                                          : result::unknown("who knows"));
  }
  EXPECT_EQ(std::move(*batch).complete(), outcome::done);
  EXPECT_EQ(end(q.claim(), result::success()), outcome::done);
  EXPECT_EQ(state(q, "b/2"), task_state::succeeded);
  EXPECT_FALSE(q.claim().has_value());
  EXPECT_TRUE(q.remove(key("a/1")));
  EXPECT_EQ(in(q.claim()), (names{"a/2"}));
  EXPECT_TRUE(q.resolve(key("c/1"), daybook::effect_state::done));
  EXPECT_EQ(in(q.claim()), (names{"a/2", "c/2"}));
  EXPECT_EQ(rows_of("series"), "3");
  static_cast<void>(q.upkeep());
  EXPECT_EQ(rows_of("series"), "2") << "of a member that is gone";
}

TEST_P(in_order, what_a_dead_process_had_is_first_again) {
  auto q = make();
  come(q, {"a/1", "a/2", "b/1", "b/2"});
  auto lost = other_.queue("events")->claim();
  ASSERT_EQ(in(lost), (names{"a/1", "b/1"}));
  lost->finish(lost->tasks()[1], result::success());
  EXPECT_EQ(lost->flush(), true);
  clock_.advance(1h);
  ASSERT_TRUE(takes_back(q));
  EXPECT_EQ(state(q, "b/1"), task_state::succeeded);
  EXPECT_EQ(in(q.claim()), (names{"b/2"})) << "the one before was done";
  EXPECT_EQ(in(q.claim({.quarantined = true})), (names{"a/1"}));
  EXPECT_EQ(end(q.claim({.quarantined = true}), result::success()), outcome::done);
  EXPECT_EQ(in(q.claim()), (names{"a/2", "b/2"}));
}

TEST_P(in_order, one_removed_in_hand_holds_up_those_behind_until_its_claim_has_ended) {
  auto q = make();
  come(q, {"a/1", "a/2"});
  auto first = q.claim();
  ASSERT_EQ(in(first), (names{"a/1"}));
  EXPECT_TRUE(q.remove(key("a/1")));
  clock_.advance(1s);
  come(q, {"a/1"});
  EXPECT_FALSE(q.claim().has_value()) << "somebody still works on it";
  clock_.advance(1s);
  come(q, {"b/1"});
  EXPECT_EQ(in(q.claim()), (names{"b/1"}));
  static_cast<void>(q.upkeep());
  EXPECT_EQ(in(q.claim()), (names{"b/1"})) << "upkeep knows that, too";
  EXPECT_EQ(end(std::move(first), result::success()), outcome::done);
  EXPECT_EQ(in(q.claim()), (names{"a/2", "b/1"}));
  EXPECT_EQ(end(q.claim(), result::success()), outcome::done);
  EXPECT_EQ(in(q.claim()), (names{"a/1"})) << "the one that came later";
}

TEST_P(in_order, one_removed_in_the_hand_of_a_dead_process_holds_nobody_up) {
  auto q = make();
  come(q, {"a/1", "a/2"});
  auto const lost = other_.queue("events")->claim();
  ASSERT_EQ(in(lost), (names{"a/1"}));
  EXPECT_TRUE(q.remove(key("a/1")));
  EXPECT_FALSE(q.claim().has_value());
  clock_.advance(1h);
  ASSERT_TRUE(takes_back(q));
  EXPECT_EQ(in(q.claim()), (names{"a/2"}));
}

TEST_P(in_order, one_that_was_added_first_and_is_committed_later_waits_for_who_is_in_hand) {
  if (on_sqlite()) return;  // one writer at a time
  auto q = make();
  auto other = other_.queue("events").value();
  std::optional<daybook::claim> paid;
  book_.transact([&](daybook::transaction& tx) {
    EXPECT_TRUE(q.add(tx, key("order/17/created")));
    EXPECT_TRUE(other.add(key("order/17/paid")));
    paid = other.claim();
    ASSERT_EQ(in(paid), (names{"order/17/paid"}));
  });
  EXPECT_FALSE(q.claim().has_value()) << "two of a series at once";
  EXPECT_FALSE(q.claim({.limit = 1}).has_value());
  come(q, {"order/18/created"});
  EXPECT_EQ(in(q.claim()), (names{"order/18/created"})) << "another series does not wait";
  EXPECT_EQ(end(std::move(paid), result::success()), outcome::done);
  EXPECT_EQ(in(q.claim()), (names{"order/17/created", "order/18/created"}));
}

TEST_P(in_order, a_clock_that_steps_back_begins_no_two_at_once) {
  auto q = make();
  come(q, {"a/2"});
  auto second = q.claim();
  ASSERT_EQ(in(second), (names{"a/2"}));
  clock_.advance(-1s);
  come(q, {"a/1"});
  clock_.advance(1s);
  EXPECT_FALSE(q.claim().has_value()) << "two of a series at once";
  // Where those due for longest are behind others, each series is looked at.
  for (int i = 0; i < 5; ++i) come(q, {"a/" + std::to_string(i + 3)});
  EXPECT_FALSE(q.claim({.limit = 1}).has_value());
  EXPECT_EQ(end(std::move(second), result::success()), outcome::done);
  EXPECT_EQ(in(q.claim()), (names{"a/1"}));
}

TEST_P(in_order, what_is_finished_in_a_transaction_of_its_effect) {
  auto q = make();
  come(q, {"a/1", "a/2"});
  auto batch = q.claim();
  EXPECT_EQ(batch->perform(
                batch->tasks()[0],
                [](daybook::transaction& tx) { tx.exec("insert into effect(name) values ('x')"); }),
            outcome::done);
  EXPECT_EQ(std::move(*batch).complete(), outcome::done);
  EXPECT_EQ(in(q.claim()), (names{"a/2"}));
}

TEST_P(in_order, many_threads_of_two_processes_and_failures) {
  constexpr int series = 12;
  constexpr int length = 15;
  auto q = make({.attempts = 100, .backoff = 0s});
  auto other = other_.queue("events").value();
  std::vector<daybook::entry> all;
  for (int n = 0; n < length; ++n) {
    for (int s = 0; s < series; ++s) {
      all.push_back({key("s" + std::to_string(s) + "/" + std::to_string(n))});
    }
  }
  EXPECT_EQ(q.import(all).added, series * length);
  std::mutex guard;
  std::map<std::string, std::vector<int>> done;
  std::map<std::string, int> running;
  std::atomic<int> calls = 0;
  std::atomic<bool> two = false;
  {
    daybook::task_fetcher ours(q, {.batch = 7, .poll = 5ms});
    daybook::task_fetcher theirs(other, {.batch = 5, .poll = 5ms});
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&, &out = i % 2 == 0 ? ours : theirs] {
        while (auto one = out.next()) {
          auto const& name = one->task().key;
          auto const of = name.substr(0, name.find('/'));
          {
            std::lock_guard const lock(guard);
            if (running[of]++ > 0) two = true;
          }
          std::this_thread::yield();
          bool const fails = ++calls % 11 == 0;
          {
            std::lock_guard const lock(guard);
            --running[of];
            if (!fails) done[of].push_back(std::stoi(name.substr(name.find('/') + 1)));
          }
          EXPECT_EQ(one->finish(fails ? result::failure("no") : result::success()), outcome::done);
        }
      });
    }
    EXPECT_TRUE(comes_true([&] {
      // Who failed is due again in the next second; a machine that is slow goes on past a lease.
      std::this_thread::sleep_for(60ms);
      clock_.advance(1s);
      EXPECT_EQ(daybook::testing::renew(other_), daybook::lease_state::held);
      return q.counts().succeeded == series * length;
    }));
    ours.stop();
    theirs.stop();
  }
  EXPECT_FALSE(two) << "two of a series at once";
  for (auto const& [name, got] : done) {
    EXPECT_EQ(got.size(), static_cast<std::size_t>(length)) << name;
    EXPECT_TRUE(std::is_sorted(got.begin(), got.end())) << name;
  }
}

TEST_P(in_order, an_inbox_launches_in_the_order_of_its_events) {
  auto events = make();
  auto tasks = book_.make_queue("fulfil", {.in_order = true});
  come(events, {"a/1", "a/2", "b/1", "a/3"});
  auto plan = book_.make_planner(
      "orders", {.queue = "fulfil", .strategy = daybook::inbox_strategy{"events"}});
  EXPECT_EQ(plan.pass().launched, 4);
  EXPECT_EQ(in(tasks.claim()), (names{"a/1", "b/1"}));
  EXPECT_EQ(end(tasks.claim(), result::success()), outcome::done);
  EXPECT_EQ(end(tasks.claim(), result::success()), outcome::done);
  EXPECT_EQ(in(tasks.claim()), (names{"a/3"}));
}

TEST_P(in_order, what_it_does_not_go_with) {
  auto const fails = [&](queue_options how, std::string const& why) {
    how.in_order = true;
    EXPECT_NE(message_of([&] { book_.make_queue("wrong", how); }).find(why), std::string::npos);
  };
  fails({.period = 24h}, "neither a period nor rounds");
  fails({.rounds = true}, "neither a period nor rounds");
  auto q = make();
  EXPECT_NE(message_of([&] { q.add(key("a/1"), {.priority = 0}); }).find("a priority"),
            std::string::npos);
  EXPECT_NE(message_of([&] { q.follow({.table = "product", .key = "code"}); }).find("in the order"),
            std::string::npos);
  EXPECT_NE(message_of([&] { book_.make_queue("events", {}); }).find("chosen when it is made"),
            std::string::npos);
  EXPECT_TRUE(book_.queue("events")->options().in_order);
  EXPECT_EQ(book_.queue("events")->options().segment, 1);
  EXPECT_NO_THROW(make());
}

DAYBOOK_ON_EVERY_ENGINE(in_order);

}  // namespace
}  // namespace conformance
