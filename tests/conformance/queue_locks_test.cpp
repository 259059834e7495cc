// Queues beside transactions that lock: whoever adds keys in a transaction that stays open.
#include "handing.hpp"

#include <string>

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

DAYBOOK_ON_EVERY_ENGINE(queue_locks);

}  // namespace
}  // namespace conformance
