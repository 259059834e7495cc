// Members that were done for long go, where the queue says so: no others, and not before.
#include "conformance/watching.hpp"

#include <daybook/planner.hpp>

#include <string>
#include <vector>

namespace conformance {
namespace {

using daybook::queue;
using daybook::queue_options;
using daybook::result;
using daybook::task_state;

class forgotten : public watching {
 protected:
  queue make(std::chrono::seconds after = 1h) {
    return book_.make_queue("events", {.attempts = 1, .done_retention = after});
  }
  static void come(queue& to, int from, int until) {
    std::vector<daybook::entry> all;
    for (int i = from; i < until; ++i) all.push_back({key("e" + std::to_string(i))});
    EXPECT_EQ(to.import(all).added, until - from);
  }
};

TEST_P(forgotten, members_go_when_they_were_done_for_long) {
  auto q = make();
  come(q, 0, 12'500);
  EXPECT_EQ(drain(q), 12'500);
  clock_.advance(40min);
  come(q, 12'500, 12'510);
  EXPECT_EQ(drain(q), 10);
  EXPECT_EQ(q.upkeep().removed, 0) << "not one of them is old enough";
  clock_.advance(30min);
  come(q, 20'000, 20'005);
  auto const done = q.upkeep();
  EXPECT_EQ(done.removed, 12'500);
  EXPECT_EQ(q.counts().members, 15);
  EXPECT_FALSE(q.find(key("e0")).has_value());
  EXPECT_EQ(q.find(key("e12500")).value().state, task_state::succeeded);
  EXPECT_LT(std::stoi(rows_of("segment")), 10) << "their ids are covered no more";
  expect_covered();
  EXPECT_EQ(drain(q), 5);
  EXPECT_EQ(q.upkeep().removed, 0);
  EXPECT_TRUE(q.add(key("e0"))) << "a key that is gone is as new";
  EXPECT_EQ(drain(q), 1);
  clock_.advance(2h);
  EXPECT_EQ(q.upkeep().removed, 16);
  EXPECT_EQ(rows_of("member"), "0");
  EXPECT_EQ(rows_of("segment"), "0");
}

TEST_P(forgotten, what_waits_for_somebody_stays) {
  auto q = make();
  come(q, 0, 6);
  auto batch = q.claim().value();
  batch.finish(batch.tasks()[0], result::failure("no"));
  batch.finish(batch.tasks()[1], result::cancel("not wanted"));
  batch.finish(batch.tasks()[2], result::success("with a remark"));
  batch.finish(batch.tasks()[3], result::success());
  batch.finish(batch.tasks()[4], result::snooze(std::chrono::hours(100)));
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  clock_.advance(2h);
  auto held = q.claim().value();
  EXPECT_EQ(q.upkeep().removed, 3);
  EXPECT_EQ(q.find(key("e0")).value().state, task_state::dead);
  EXPECT_FALSE(q.find(key("e1")).has_value());
  EXPECT_FALSE(q.find(key("e2")).has_value());
  EXPECT_FALSE(q.find(key("e3")).has_value());
  EXPECT_EQ(q.find(key("e4")).value().state, task_state::waiting);
  EXPECT_EQ(q.find(key("e5")).value().state, task_state::running);
  EXPECT_EQ(std::move(held).complete(), outcome::done);
  expect_covered();
}

TEST_P(forgotten, one_that_was_done_again_is_as_young_as_its_last_end) {
  auto q = make();
  come(q, 0, 100);
  EXPECT_EQ(drain(q), 100);
  clock_.advance(50min);
  EXPECT_TRUE(q.retry(key("e50")));
  EXPECT_EQ(drain(q), 1);
  clock_.advance(20min);
  EXPECT_EQ(q.upkeep().removed, 99);
  EXPECT_TRUE(q.find(key("e50")).has_value());
  clock_.advance(1h);
  EXPECT_EQ(q.upkeep().removed, 1);
}

TEST_P(forgotten, nothing_goes_where_nobody_says_so) {
  auto q = make(0s);
  come(q, 0, 10);
  EXPECT_EQ(drain(q), 10);
  clock_.advance(1000h);
  EXPECT_EQ(q.upkeep().removed, 0);
  EXPECT_EQ(make(2h).upkeep().removed, 10) << "changed later";
  EXPECT_EQ(book_.queue("events").value().options().done_retention, 2h);
}

TEST_P(forgotten, a_planner_remembers_what_its_queue_forgot) {
  auto q = book_.make_queue("fulfil", {.done_retention = 1h});
  auto events = make();
  auto plan =
      book_.make_planner("p", {.queue = "fulfil", .strategy = daybook::inbox_strategy{"events"}});
  come(events, 0, 50);
  EXPECT_EQ(plan.pass().launched, 50);
  EXPECT_EQ(drain(q), 50);
  clock_.advance(2h);
  EXPECT_EQ(q.upkeep().removed, 50);
  EXPECT_EQ(events.upkeep().removed, 50);
  come(events, 0, 50);
  EXPECT_EQ(plan.pass().launched, 0) << "once is for ever";
  EXPECT_EQ(q.counts().members, 0);
  EXPECT_EQ(plan.find(key("e7")).value().launches, 1);
}

TEST_P(forgotten, a_lost_reply_forgets_nothing_else) {
  auto q = make();
  for (auto const* place : {"forget.begun", "forget.before_commit", "forget.committed"}) {
    come(q, 0, 30);
    EXPECT_EQ(drain(q), 30);
    clock_.advance(2h);
    come(q, 30, 40);
    daybook::testing::arm(place, failpoint_action::cut);
    static_cast<void>(q.upkeep());
    daybook::testing::disarm();
    EXPECT_EQ(q.counts().members, 10) << place;
    expect_covered();
    EXPECT_EQ(drain(q), 10);
    clock_.advance(2h);
    static_cast<void>(q.upkeep());
    EXPECT_EQ(rows_of("member"), "0");
  }
}

TEST_P(forgotten, a_queue_that_follows_a_table_forgets_nobody) {
  auto q = make();
  database_.execute(adding("a,b"));
  auto const follow = [&] { q.follow({.table = "product", .key = "code"}); };
  EXPECT_NE(message_of(follow).find("forget_done"), std::string::npos);
  auto other = book_.make_queue("other");
  auto followed = other.follow({.table = "product", .key = "code"});
  EXPECT_EQ(followed.reconcile().added, 2);
  auto changed = book_.make_queue("other", {.done_retention = 1h}).followed().value();
  EXPECT_NE(message_of([&] { changed.reconcile(); }).find("forget_done"), std::string::npos);
}

TEST_P(forgotten, what_may_not_be_asked_for) {
  auto const fails = [&](queue_options const& of, std::string const& with) {
    auto const said = message_of([&] { book_.make_queue("q", of); });
    EXPECT_NE(said.find(with), std::string::npos) << said;
  };
  fails({.period = 24h, .done_retention = 1h}, "a period are never done for good");
  fails({.done_retention = 1s}, "a minute after their end");
  fails({.retention = 2h, .done_retention = 3h}, "before their outcomes are");
  fails({.retention = std::chrono::hours::max()}, "between 1 hour and 100 years");
  fails({.retention = 24h * 36525 + 1h}, "between 1 hour and 100 years");
}

DAYBOOK_ON_EVERY_ENGINE(forgotten);

}  // namespace
}  // namespace conformance
