// Queues beside transactions that lock: whoever adds keys in a transaction that stays open, and
// whoever has due tasks locked for a moment.
#include "conformance/handing.hpp"

#include <chrono>
#include <string>
#include <thread>

namespace conformance {
namespace {

using daybook::queue;
using daybook::result;

class queue_locks : public handing {
 protected:
  /// An application's transaction as its server begins them; false where there is one writer.
  bool begins() {
    if (on_sqlite()) return false;
    begin();
    return true;
  }
  static std::size_t size_of(std::optional<daybook::claim> const& batch) {
    return batch ? batch->tasks().size() : 0;
  }
  /// What a claim finds where all that is due is locked until `over`, which is asked again and
  /// again.
  template <class F>
  std::size_t claimed_while_locked(queue const& of, F const& over) {
    support::raw_connection rival(direct_url());
    rival.execute("begin");
    rival.execute("select * from daybook_segment for update");
    std::jthread const later([&](std::stop_token const& stop) {
      while (!over() && !stop.stop_requested()) std::this_thread::yield();
      rival.execute("rollback");
    });
    return size_of(queue(of).claim());
  }
};

TEST_P(queue_locks, a_joined_add_that_is_left_open_keeps_nobody_from_claiming) {
  auto limited = book_.make_queue("limited", {.running_limit = 10});
  auto rated = book_.make_queue("rated", {.rate = daybook::rate{100, 1s}});
  auto plain = book_.make_queue("plain");
  auto ordered = book_.make_queue("ordered", {.in_order = true});
  if (!begins()) return;
  auto const mine = join();
  for (auto* const one : {&limited, &rated, &ordered, &plain}) {
    one->add(key("a/1"));
    EXPECT_TRUE(one->add(*mine, key("a/2")));
    EXPECT_EQ(size_of(one->claim()), 1U);
    one->pause();
    one->resume();
    auto batch = one->claim().value();
    batch.finish(batch.tasks()[0], result::success());
    EXPECT_EQ(std::move(batch).complete(), outcome::done);
  }
  app_.execute("commit");
  for (auto* const one : {&limited, &rated, &ordered, &plain}) {
    EXPECT_EQ(size_of(one->claim()), 1U);
  }
}

TEST_P(queue_locks, joined_adds_of_two_series_do_not_wait_for_each_other) {
  auto q = book_.make_queue("events", {.in_order = true});
  auto theirs = other_.queue("events").value();
  if (!begins()) return;
  auto const mine = join();
  EXPECT_TRUE(theirs.add(key("z/1")));  // each process has its block of ids by now
  EXPECT_TRUE(q.add(*mine, key("a/1")));
  auto second = connect();
  second.execute("begin");
  {
    auto const beside = join(book_, second);
    EXPECT_TRUE(q.add(*beside, key("b/1"))) << "the next id of the same block";
    EXPECT_TRUE(q.add(key("c/1")));
    EXPECT_TRUE(theirs.add(key("d/1"))) << "of another block";
    second.execute("commit");
  }
  EXPECT_EQ(size_of(theirs.claim()), 4U) << "all but what is not committed";
  app_.execute("commit");
  EXPECT_EQ(size_of(theirs.claim()), 5U);
}

TEST_P(queue_locks, a_queue_made_after_the_transaction_began_loses_no_task) {
  if (!begins()) return;
  if (on_postgres()) app_.execute("set transaction isolation level repeatable read");
  app_.execute("select count(*) from effect");  // its snapshot
  auto q = book_.make_queue("late");
  auto const mine = join();
  EXPECT_TRUE(q.add(*mine, key("a")));
  app_.execute("commit");
  EXPECT_EQ(size_of(q.claim()), 1U);
  EXPECT_EQ(q.find(key("a")).value().state, daybook::task_state::waiting);
}

TEST_P(queue_locks, a_claim_waits_a_moment_for_what_is_due_but_locked) {
  if (on_sqlite()) return;  // one writer: it waits anyway
  auto q = book_.make_queue("stock");
  q.import(keys(0, 10));
  auto const tries = [&] { return log_.count("timed claim"); };
  EXPECT_TRUE(comes_true([&] {
    auto const before = tries();
    return claimed_while_locked(q, [&] { return tries() > before; }) == 10;
  })) << "the first try found nothing";
  auto const before = tries();
  EXPECT_EQ(claimed_while_locked(q, [] { return false; }), 0U) << "no longer than a moment";
  EXPECT_GT(tries(), before + 1);
}

TEST_P(queue_locks, a_claim_that_finds_nothing_due_asks_once) {
  auto q = book_.make_queue("stock");
  q.add(key("later"), {.at = std::chrono::sys_days{std::chrono::year{9000} / 1 / 1}});
  q.add(key("suspect"));
  {
    auto const lost = other_.queue("stock")->claim();
    ASSERT_EQ(size_of(lost), 1U);
    clock_.advance(1h);
    ASSERT_TRUE(takes_back(q));
  }
  auto const before = log_.count("timed claim");
  EXPECT_FALSE(q.claim().has_value()) << "a suspect is claimed alone, by who asks for it";
  EXPECT_EQ(log_.count("timed claim"), before + 1);
}

TEST_P(queue_locks, upkeep_has_few_ids_locked_at_a_time) {
  auto q = book_.make_queue("stock");
  q.import(keys(0, 50'000));
  auto const before = log_.count("timed upkeep");
  static_cast<void>(q.upkeep());
  EXPECT_GE(log_.count("timed upkeep"), before + 5) << "10000 ids each";
}

DAYBOOK_ON_EVERY_ENGINE(queue_locks);

}  // namespace
}  // namespace conformance
