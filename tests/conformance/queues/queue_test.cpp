// Queues: keys come and go, and each is done once, or once per period.
#include "conformance/fixture.hpp"

#include <set>
#include <string>
#include <vector>

namespace conformance {
namespace {

using daybook::entry;
using daybook::queue;
using daybook::queue_options;
using daybook::result;
using daybook::task;
using daybook::task_state;

class queued : public on_engine {
 protected:
  queued() : other_(database_.open()), clock_(book_) { book_.migrate(); }

  static std::vector<entry> keys(int from, int to) {
    std::vector<entry> out;
    for (int i = from; i < to; ++i) out.push_back({key("k" + std::to_string(i))});
    return out;
  }
  /// Claims and completes until nothing is due; how many tasks there were.
  static int drain(queue& of, int limit = 100) {
    int count = 0;
    while (auto batch = of.claim({.limit = limit})) {
      for (auto const& one : batch->tasks()) {
        batch->finish(one, result::success());
        ++count;
      }
      EXPECT_EQ(std::move(*batch).complete(), outcome::done);
    }
    return count;
  }
  static task_state state_of(queue const& of, std::string const& name) {
    return of.find(key(name)).value().state;
  }

  daybook::book other_;
  daybook::testing::manual_clock clock_;
};

TEST_P(queued, each_key_is_done_once) {
  auto q = book_.make_queue("once");
  EXPECT_TRUE(q.add(key("a"), {.payload = "{}"}));
  EXPECT_FALSE(q.add(key("a")));
  EXPECT_TRUE(q.add(key("a "))) << "another key";
  auto batch = q.claim().value();
  ASSERT_EQ(batch.tasks().size(), 2U);
  EXPECT_EQ(batch.tasks()[0].key, "a");
  EXPECT_EQ(batch.tasks()[0].payload, "{}");
  EXPECT_EQ(batch.tasks()[0].attempt, 1);
  EXPECT_EQ(state_of(q, "a"), task_state::running);
  EXPECT_FALSE(q.claim());
  batch.finish(batch.tasks()[0], result::success());
  batch.finish(batch.tasks()[1], result::success("fine"));
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(state_of(q, "a"), task_state::succeeded);
  EXPECT_EQ(q.find(key("a ")).value().remark, "fine");
  EXPECT_FALSE(q.claim());
  clock_.advance(1000h);
  EXPECT_FALSE(q.claim());
}

TEST_P(queued, each_key_is_done_again_every_period) {
  auto q = book_.make_queue("stock", {.period = 240h});
  EXPECT_EQ(q.import(keys(0, 2500)).added, 2500);
  EXPECT_EQ(q.import(keys(2490, 2510)).present, 10);
  EXPECT_EQ(q.counts().members, 2510);
  EXPECT_EQ(q.counts().segments, 4);
  EXPECT_EQ(drain(q, 1000), 2510);
  EXPECT_EQ(drain(q), 0);
  EXPECT_EQ(q.counts().succeeded, 2520) << "ten ids of the second import have no member";
  clock_.advance(240h);
  EXPECT_EQ(drain(q), 0) << "never early";
  clock_.advance(15h);
  EXPECT_EQ(drain(q, 300), 2510);
  EXPECT_EQ(drain(q), 0);
  clock_.advance(255h);
  EXPECT_EQ(drain(q, 7), 2510);
}

// Its first turn is the next instant of the grain, and so may be that of the one that was removed.
TEST_P(queued, a_key_that_was_removed_and_comes_again_is_other_work) {
  auto q = book_.make_queue("stock", {.period = 240h});
  std::vector<task> seen;
  std::vector<std::string> outside;
  for (int i = 0; i < 2; ++i) {
    q.add(key("a"));
    auto batch = q.claim().value();
    seen.push_back(batch.tasks()[0]);
    outside.push_back(batch.idempotency_key(batch.tasks()[0]));
    batch.finish(batch.tasks()[0], result::success());
    EXPECT_EQ(std::move(batch).complete(), outcome::done);
    q.remove(key("a"));
  }
  EXPECT_EQ(seen[0].turn, seen[1].turn);
  EXPECT_NE(seen[0].id, seen[1].id);
  EXPECT_NE(outside[0], outside[1]);
}

TEST_P(queued, what_fails_is_tried_again_and_rolls_on) {
  auto q = book_.make_queue("fails",
                            {.period = 24h, .attempts = 2, .backoff = std::chrono::seconds{60}});
  q.import(keys(0, 10));
  auto batch = q.claim().value();
  for (auto const& one : batch.tasks()) {
    batch.finish(one, one.key == "k3" ? result::failure("no") : result::success());
  }
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(state_of(q, "k3"), task_state::waiting);
  EXPECT_EQ(q.find(key("k3")).value().remark, "no");
  EXPECT_EQ(q.find(key("k3")).value().attempts, 1);
  EXPECT_FALSE(q.claim());
  clock_.advance(67s);
  auto again = q.claim().value();
  ASSERT_EQ(again.tasks().size(), 1U);
  EXPECT_EQ(again.tasks()[0].attempt, 2);
  again.finish(again.tasks()[0], result::failure("no again"));
  EXPECT_EQ(std::move(again).complete(), outcome::done);
  EXPECT_EQ(state_of(q, "k3"), task_state::failed);
  clock_.advance(26h);
  EXPECT_EQ(drain(q), 10) << "in step with its neighbours";
  EXPECT_GE(q.upkeep().merged, 0);
  EXPECT_EQ(q.counts().segments, 1);
}

TEST_P(queued, a_dead_workers_tasks_are_suspects_and_die_at_the_limit) {
  auto q = other_.make_queue("crash", {.crash_limit = 2});
  auto heirs = book_.queue("crash").value();
  q.import(keys(0, 3));
  auto batch = q.claim().value();
  batch.finish(batch.tasks()[0], result::success());
  EXPECT_TRUE(batch.flush());
  EXPECT_EQ(heirs.reclaim(), 0);
  clock_.advance(1h);
  EXPECT_EQ(heirs.reclaim(), 1);
  EXPECT_EQ(state_of(heirs, "k0"), task_state::succeeded);
  EXPECT_EQ(state_of(heirs, "k1"), task_state::quarantined);
  EXPECT_FALSE(heirs.claim()) << "suspects are claimed singly";
  batch.finish(batch.tasks()[1], result::success());
  EXPECT_FALSE(batch.flush());
  EXPECT_EQ(std::move(batch).complete(), outcome::lost);
  EXPECT_EQ(state_of(heirs, "k1"), task_state::quarantined);
  auto one = heirs.claim({.quarantined = true}).value();
  ASSERT_EQ(one.tasks().size(), 1U);
  EXPECT_EQ(one.tasks()[0].crashes, 1);
  one.finish(one.tasks()[0], result::success());
  EXPECT_EQ(std::move(one).complete(), outcome::done);
  auto third = daybook::book(database_.open());
  auto last = third.queue("crash").value();
  auto poison = last.claim({.quarantined = true}).value();
  clock_.advance(1h);
  EXPECT_EQ(heirs.reclaim(), 1);
  EXPECT_EQ(state_of(heirs, "k2"), task_state::dead);
  EXPECT_EQ(std::move(poison).complete(), outcome::lost);
  EXPECT_TRUE(heirs.retry(key("k2")));
  EXPECT_EQ(drain(heirs), 1);
}

TEST_P(queued, one_by_one_in_transactions_of_its_own) {
  auto q = book_.make_queue("single");
  q.import(keys(0, 5));
  auto batch = q.claim().value();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(batch.perform(batch.tasks()[static_cast<std::size_t>(i)], insert("paid")),
              outcome::done);
  }
  EXPECT_EQ(fault_of([&] { batch.perform(batch.tasks()[0], insert("paid")); }),
            error_code::bad_argument);
  EXPECT_THROW(batch.perform(batch.tasks()[3],
                             [&](transaction& tx) {
                               insert("paid")(tx);
                               throw std::runtime_error("no");
                             }),
               std::runtime_error);
  EXPECT_EQ(effects("paid"), "3");
  EXPECT_EQ(state_of(q, "k0"), task_state::succeeded);
  EXPECT_EQ(state_of(q, "k3"), task_state::running);
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(state_of(q, "k0"), task_state::succeeded);
  EXPECT_EQ(state_of(q, "k3"), task_state::waiting);
  EXPECT_EQ(drain(q), 2);
}

TEST_P(queued, people_ask_for_tasks) {
  auto q = book_.make_queue("asked", {.period = 24h});
  q.import(keys(0, 100));
  EXPECT_EQ(drain(q), 100);
  EXPECT_TRUE(q.run_now(key("k50")));
  EXPECT_FALSE(q.run_now(key("nobody")));
  auto batch = q.claim().value();
  ASSERT_EQ(batch.tasks().size(), 1U);
  EXPECT_EQ(batch.tasks()[0].key, "k50");
  EXPECT_TRUE(q.run_now(key("k50"))) << "once more, after this";
  batch.finish(batch.tasks()[0], result::success());
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(drain(q), 1);
  EXPECT_TRUE(q.discard(key("k7")));
  EXPECT_EQ(drain(q), 0);
  EXPECT_EQ(state_of(q, "k7"), task_state::discarded);
}

TEST_P(queued, what_people_ask_for_is_in_front) {
  auto q = book_.make_queue("urgent");
  auto const next = [&] {
    auto batch = q.claim({.limit = 1}).value();
    auto const name = batch.tasks()[0].key;
    batch.finish(batch.tasks()[0], result::success());
    EXPECT_EQ(std::move(batch).complete(), outcome::done);
    return name;
  };
  q.import(keys(0, 50));
  EXPECT_TRUE(q.add(key("later"), {.at = clock_.now() + 1h}));
  clock_.advance(1min);
  EXPECT_TRUE(q.run_now(key("k40")));
  clock_.advance(1s);
  auto const asked = clock_.now();
  clock_.stop_at(asked);
  EXPECT_TRUE(q.run_now(key("later")));
  EXPECT_TRUE(q.run_now(key("k30")));
  EXPECT_EQ(next(), "k40");
  EXPECT_EQ(q.find(key("later")).value().due, asked);
  EXPECT_EQ(q.in_front(key("k7")), 2);
  EXPECT_EQ(q.in_front(key("k30")), 0) << "not behind itself";
  EXPECT_EQ(std::set<std::string>({next(), next()}), (std::set<std::string>{"k30", "later"}));
  EXPECT_EQ(next(), "k0") << "and then as before";
  EXPECT_EQ(q.in_front(key("k7")), 0);
  EXPECT_TRUE(q.retry(key("k40")));
  EXPECT_EQ(next(), "k40") << "also what is over";
  EXPECT_LT(q.counts().oldest_due.value(), asked) << "k1, which nobody asked for";

  auto rounds = book_.make_queue("rounds", {.period = 24h, .rounds = true});
  EXPECT_TRUE(rounds.add(key("a")));
  EXPECT_FALSE(rounds.claim()) << "no round is open";
  EXPECT_TRUE(rounds.run_now(key("a")));
  EXPECT_TRUE(rounds.claim());
}

TEST_P(queued, a_task_gets_another_priority) {
  auto q = book_.make_queue("priorities");
  q.import(keys(0, 10));
  clock_.advance(1s);
  EXPECT_TRUE(q.add(key("first"), {.priority = 3}));
  EXPECT_EQ(q.in_front(key("k7")), 1);
  EXPECT_FALSE(q.add(key("k7"), {.priority = 0}));
  EXPECT_TRUE(q.set_priority(key("k7"), 0));
  EXPECT_FALSE(q.set_priority(key("nobody"), 0));
  EXPECT_TRUE(q.set_priority(key("k8"), 9, {.actor = "anna", .reason = "not today"}));
  EXPECT_EQ(q.changes(key("k8")).at(0).action, "priority");
  std::vector<std::string> order;
  for (int i = 0; i < 11; ++i) {
    auto batch = q.claim({.limit = 1}).value();
    order.push_back(batch.tasks()[0].key);
    if (i == 0) {
      EXPECT_EQ(batch.tasks()[0].priority, 0);
    }
    batch.finish(batch.tasks()[0], result::success());
    EXPECT_EQ(std::move(batch).complete(), outcome::done);
  }
  EXPECT_EQ(order.at(0), "k7");
  EXPECT_EQ(order.at(1), "first");
  EXPECT_EQ(order.at(10), "k8");
  EXPECT_THROW(q.set_priority(key("k1"), 10), daybook::error);
  auto ordered = book_.make_queue("ordered", {.in_order = true});
  EXPECT_THROW(ordered.set_priority(key("k1"), 1), daybook::error);
}

TEST_P(queued, a_claim_is_not_short_because_those_before_were_long) {
  auto q = book_.make_queue("lengths");
  auto const come = [&](int from, int to) {
    for (auto const& one : keys(from, to)) EXPECT_TRUE(q.add(one.key));
  };
  come(0, 4);
  EXPECT_EQ(q.claim().value().tasks().size(), 4U);
  EXPECT_EQ(drain(q), 4);
  q.import(keys(1000, 5000));
  EXPECT_EQ(drain(q), 4000);
  come(4, 44);
  EXPECT_EQ(q.claim().value().tasks().size(), 40U);
  EXPECT_EQ(q.counts().due, 40) << "handed back";
}

TEST_P(queued, pauses_rounds_limits_and_rates) {
  auto q = book_.make_queue("paused");
  q.import(keys(0, 10));
  q.pause();
  EXPECT_FALSE(q.claim());
  q.resume();
  EXPECT_EQ(drain(q), 10);

  auto limited = book_.make_queue("limited", {.running_limit = 3});
  limited.import(keys(0, 10));
  auto batch = limited.claim().value();
  EXPECT_EQ(batch.tasks().size(), 3U);
  EXPECT_FALSE(limited.claim());
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(drain(limited), 10);

  auto rated = book_.make_queue("rated", {.rate = daybook::rate{10, 1s}});
  rated.import(keys(0, 100));
  auto first = rated.claim().value();
  EXPECT_EQ(first.tasks().size(), 11U);
  EXPECT_EQ(first.tasks()[10].start_delay, 1s);
  EXPECT_FALSE(rated.claim());
  clock_.advance(500ms);
  EXPECT_EQ(rated.claim().value().tasks().size(), 5U);

  auto rounds = book_.make_queue("rounds", {.period = 24h, .rounds = true});
  rounds.import(keys(0, 10));
  EXPECT_FALSE(rounds.claim()) << "no round is open";
}

// A bucket of slots: full at first and after a pause, never fuller.
TEST_P(queued, a_burst_is_saved_up_and_no_more) {
  clock_.stop_at(clock_.now());
  auto q = book_.make_queue("bursts", {.rate = daybook::rate{10, 1s}, .burst = 5});
  EXPECT_EQ(q.options().burst, 5);
  q.import(keys(0, 1000));
  auto const begin_at_once = [&] {
    auto batch = q.claim().value();
    auto const tasks = batch.tasks();
    EXPECT_EQ(tasks.back().start_delay, 1s);
    return std::count_if(tasks.begin(), tasks.end(),
                         [](auto const& one) { return one.start_delay == 0us; });
  };
  EXPECT_EQ(begin_at_once(), 5);
  EXPECT_FALSE(q.claim()) << "all slots of the next second are taken";
  clock_.advance(1s);
  EXPECT_EQ(begin_at_once(), 0) << "none was left over";
  clock_.advance(1300ms);
  EXPECT_EQ(begin_at_once(), 3) << "of 200 ms ago, of 100 ms ago, and the present one";
  clock_.advance(1h);
  EXPECT_EQ(begin_at_once(), 5);
  q = book_.make_queue("bursts", {.rate = daybook::rate{10, 1s}});
  clock_.advance(1h);
  EXPECT_EQ(begin_at_once(), 1);
}

TEST_P(queued, the_newest_may_be_the_oldest) {
  auto q = book_.make_queue("mixed");
  auto const now = clock_.now();
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(q.add(key("k" + std::to_string(i)), {.at = now - (i + 1) * 1min}));
  }
  EXPECT_EQ(drain(q), 20);
  EXPECT_EQ(q.counts().succeeded, 20);
}

TEST_P(queued, a_claim_hears_of_changed_options) {
  auto q = book_.make_queue("changed");
  auto far = other_.queue("changed").value();
  q.import(keys(0, 2));
  auto batch = far.claim({.limit = 1}).value();
  book_.make_queue("changed", {.period = 24h, .attempts = 2});
  EXPECT_EQ(far.options().attempts, 5);
  EXPECT_TRUE(far.claim({.limit = 1}));
  EXPECT_EQ(far.options().attempts, 2);
  batch.finish(batch.tasks()[0], result::success());
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_TRUE(q.find(key("k0")).value().due) << "in the period that it has by now";
}

TEST_P(queued, each_turn_may_be_discarded) {
  auto q = book_.make_queue("turns", {.period = 24h});
  q.import(keys(0, 1));
  EXPECT_TRUE(q.discard(key("k0")));
  EXPECT_EQ(drain(q), 0);
  auto const next = q.find(key("k0")).value().turn;
  EXPECT_TRUE(q.discard(key("k0")));
  EXPECT_EQ(drain(q), 0);
  EXPECT_EQ(q.find(key("k0")).value().turn, next) << "twice is as good as once";
  clock_.advance(27h);
  EXPECT_TRUE(q.discard(key("k0")));
  EXPECT_EQ(drain(q), 0) << "nor at the next turn";
}

TEST_P(queued, a_claim_hears_of_options_that_another_process_changed) {
  auto q = book_.make_queue("changed");
  q.import(keys(0, 50));
  other_.make_queue("changed", {.running_limit = 3});
  auto first = q.claim({.limit = 1}).value();  // sees that the row is another
  EXPECT_EQ(q.claim().value().tasks().size(), 2U);
  EXPECT_EQ(q.options().running_limit, 3);
  other_.make_queue("changed", {.running_limit = 5});
  auto next = std::move(first).complete_and_claim(1).next;
  EXPECT_TRUE(next);
  EXPECT_EQ(q.options().running_limit, 5);
}

TEST_P(queued, keys_payloads_and_remarks_are_bytes) {
  if (on_mariadb()) database_.execute("alter database character set latin1");
  auto q = book_.make_queue("letters");
  std::string const hard = "\xF0\x9F\x98\x80 ключ \"q\" \\ '";
  EXPECT_EQ(q.import({{key("été"), "пример"}}).added, 1);
  // Row by row, for one is there already.
  auto const more = q.import({{key("été")}, {key("ete")}, {key(hard), hard + "\n\t"}});
  EXPECT_EQ(more.added, 2);
  EXPECT_EQ(more.present, 1);
  auto batch = q.claim().value();
  ASSERT_EQ(batch.tasks().size(), 3U);
  EXPECT_EQ(batch.tasks()[0].payload, "пример");
  EXPECT_EQ(batch.tasks()[2].key, hard);
  EXPECT_EQ(batch.tasks()[2].payload, hard + "\n\t");
  batch.finish(batch.tasks()[0], result::failure("ошибка " + hard));
  EXPECT_TRUE(batch.flush());
  batch.finish(batch.tasks()[2], result::success(hard));
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(q.find(key("été")).value().remark, "ошибка " + hard);
  EXPECT_EQ(q.find(key(hard)).value().remark, hard);
}

TEST_P(queued, a_claim_of_thousands_of_segments) {
  auto q = book_.make_queue("ones", {.segment = 1});
  EXPECT_EQ(q.import(keys(0, 3000)).added, 3000);
  EXPECT_EQ(q.counts().segments, 3000);
  std::size_t taken = 0;
  while (auto batch = q.claim({.limit = 10'000})) {
    taken = std::max(taken, batch->tasks().size());
    for (auto const& one : batch->tasks()) batch->finish(one, result::success());
    EXPECT_EQ(std::move(*batch).complete(), outcome::done);
    q.import(keys(3000, 6000));
  }
  EXPECT_GE(taken, 3000U);
  EXPECT_EQ(q.counts().succeeded, 6000);
}

TEST_P(queued, refuses_what_cannot_be) {
  auto const refused = [&](queue_options const& how) {
    return fault_of([&] { book_.make_queue("bad", how); }) == error_code::bad_argument;
  };
  EXPECT_TRUE(refused({.period = -1s}));
  EXPECT_TRUE(refused({.period = 10s, .grain = 11s}));
  EXPECT_TRUE(refused({.rate = daybook::rate{0, 1s}}));
  EXPECT_TRUE(refused({.rate = daybook::rate{1, 1s}, .burst = 0}));
  EXPECT_TRUE(refused({.rate = daybook::rate{1, 365 * 24h}, .burst = 1000}));
  EXPECT_EQ(fault_of([&] { book_.make_queue(""); }), error_code::bad_argument);
  auto q = book_.make_queue("good");
  q.import(keys(0, 2));
  auto batch = q.claim().value();
  EXPECT_EQ(fault_of([&] { batch.finish({.id = 77, .key = "other"}, result::success()); }),
            error_code::bad_argument);
  batch.finish(batch.tasks()[0], result::success());
  EXPECT_EQ(fault_of([&] { batch.finish(batch.tasks()[0], result::success()); }),
            error_code::bad_argument);
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(drain(q), 1) << "the rest was handed back";
}

DAYBOOK_ON_EVERY_ENGINE(queued);

}  // namespace
}  // namespace conformance
