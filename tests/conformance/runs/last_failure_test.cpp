// What the observer is told when nobody tries again: of ticks, runs and tasks, and of no attempt
// before.
#include "conformance/scheduling.hpp"
#include "conformance/waiting.hpp"

#include <daybook/error.hpp>
#include <daybook/queue.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace conformance {
namespace {

using daybook::result;
using daybook::step_mode;

class last_failures : public scheduling {
 protected:
  /// The events of last failures, in their order.
  [[nodiscard]] std::vector<std::string> events() const {
    auto out = log_.lines();
    std::erase_if(out, [](std::string const& line) {
      return !line.starts_with("tick_failed") && !line.starts_with("unknown") &&
             !line.starts_with("task_");
    });
    return out;
  }
  /// Every due task ends so. How many there were.
  static std::size_t end_all(daybook::queue& of, result const& how) {
    std::size_t out = 0;
    while (auto batch = of.claim()) {
      for (auto const& one : batch->tasks()) batch->finish(one, how);
      out += batch->tasks().size();
      EXPECT_EQ(std::move(*batch).complete(), outcome::done);
    }
    return out;
  }
  static void fill(daybook::queue& of, int count) {
    for (int i = 0; i < count; ++i) of.add(key("k" + std::to_string(i)));
  }
};

TEST_P(last_failures, a_tick_is_given_up_when_no_attempt_is_left) {
  make({.attempts = 2, .backoff = 1s});
  serve("leads", [](tick&) { throw std::runtime_error("no paper"); });
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_EQ(log_.count("failed leads/"), 1U);
  EXPECT_THAT(events(), ElementsAre()) << "it is tried again";
  clock_.advance(10s);
  EXPECT_EQ(second_.drain(), 1);
  EXPECT_EQ(log_.count("failed leads/"), 2U);
  EXPECT_THAT(events(), ElementsAre("tick_failed leads/2026-11-21T12:01:00Z 1.2 no paper"));
}

TEST_P(last_failures, a_tick_that_is_handed_back_is_not_given_up) {
  make({.attempts = 1});
  serve("leads", [](tick& one) { one.hand_back(); });
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1);
  EXPECT_THAT(events(), ElementsAre());
}

TEST_P(last_failures, a_tick_is_given_up_after_too_many_dead_nodes) {
  make({.crash_limit = 1});
  serve("leads", [this](tick& one) {
    ASSERT_TRUE(daybook::testing::expire(book_, process("leads"), one.run().run_key()));
    static_cast<void>(second_.drain());
  });
  clock_.advance(1min);
  static_cast<void>(first_.drain());
  EXPECT_THAT(
      events(),
      ElementsAre("tick_failed leads/2026-11-21T12:01:00Z 1.2 1 nodes died while they did it"));
}

TEST_P(last_failures, a_run_whose_outcome_is_unknown_waits_for_a_person) {
  make();
  serve("leads", [](tick& one) {
    static_cast<void>(one.run().at_most_once(
        "pay", [](daybook::effect const&) -> std::string { throw std::runtime_error("cut off"); }));
  });
  clock_.advance(1min);
  EXPECT_EQ(first_.drain(), 1);
  auto const told = events();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].starts_with("unknown leads/2026-11-21T12:01:00Z 1.1 ")) << told[0];
}

TEST_P(last_failures, a_task_is_dead_when_no_attempt_is_left) {
  auto queue = book_.make_queue("stock", {.attempts = 2, .backoff = 1s});
  fill(queue, 2);
  EXPECT_EQ(end_all(queue, result::failure("no bread")), 2U);
  EXPECT_THAT(events(), ElementsAre()) << "they are tried again";
  clock_.advance(10s);
  EXPECT_EQ(end_all(queue, result::failure("no butter")), 2U);
  EXPECT_THAT(events(),
              ElementsAre("task_dead stock/k0 2.0 no butter", "task_dead stock/k1 2.0 no butter"));
}

TEST_P(last_failures, what_is_written_down_before_the_claim_ends_is_told_once) {
  auto queue = book_.make_queue("stock", {.attempts = 1});
  fill(queue, 3);
  auto batch = queue.claim().value();
  batch.finish(batch.tasks()[1], result::failure("no bread"));
  ASSERT_TRUE(batch.flush());
  EXPECT_THAT(events(), ElementsAre()) << "the claim may still be taken over";
  batch.finish(batch.tasks()[2], result::success());
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_THAT(events(), ElementsAre("task_dead stock/k1 1.0 no bread"));
}

TEST_P(last_failures, a_task_that_comes_again_has_failed_at_its_turn) {
  auto queue = book_.make_queue("stock", {.period = 1h, .attempts = 1});
  fill(queue, 1);
  clock_.advance(1h);
  EXPECT_EQ(end_all(queue, result::failure("no bread")), 1U);
  EXPECT_THAT(events(), ElementsAre("task_failed stock/k0 1.0 no bread"));
}

TEST_P(last_failures, no_other_end_is_one) {
  auto queue = book_.make_queue("stock", {.attempts = 1});
  fill(queue, 3);
  auto batch = queue.claim().value();
  batch.finish(batch.tasks()[0], result::snooze(1s, "later"));
  batch.finish(batch.tasks()[1], result::cancel("no more"));
  batch.finish(batch.tasks()[2], result::success("well"));
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_THAT(events(), ElementsAre());
}

TEST_P(last_failures, a_task_whose_outcome_is_unknown_waits_for_a_person) {
  auto queue = book_.make_queue("pay", {.mode = step_mode::at_most_once});
  fill(queue, 1);
  EXPECT_EQ(end_all(queue, result::unknown("cut off")), 1U);
  EXPECT_THAT(events(), ElementsAre("task_unknown pay/k0 1.0 cut off"));
}

TEST_P(last_failures, the_heir_of_a_dead_worker_tells) {
  auto queue = book_.make_queue("pay", {.mode = step_mode::at_most_once});
  auto heirs = other_.queue("pay").value();
  fill(queue, 4);
  ASSERT_TRUE(queue.remove(key("k1")));
  auto batch = queue.claim({.beginning = daybook::beginning::announced}).value();
  ASSERT_EQ(batch.tasks().size(), 3U);
  EXPECT_EQ(batch.begin(batch.tasks()[0]), outcome::done);
  EXPECT_EQ(batch.begin(batch.tasks()[2]), outcome::done);
  clock_.advance(1h);
  ASSERT_TRUE(comes_true([&] { return heirs.reclaim() > 0; }));
  EXPECT_THAT(events(), ElementsAre("task_unknown pay/k0 1.1 its worker died",
                                    "task_unknown pay/k3 1.1 its worker died"));
  EXPECT_EQ(std::move(batch).complete(), outcome::lost);
  EXPECT_EQ(events().size(), 2U) << "whoever has lost it tells nothing";
}

TEST_P(last_failures, those_that_are_tried_again_are_listed_with_why) {
  auto queue = book_.make_queue("stock", {.attempts = 2, .backoff = 1h});
  fill(queue, 4);
  auto batch = queue.claim({.limit = 3}).value();
  batch.finish(batch.tasks()[0], result::failure("no bread"));
  batch.finish(batch.tasks()[1], result::success("well"));
  batch.finish(batch.tasks()[2], result::failure("no butter"));
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  auto const lines = [&](daybook::tasks_query const& what) {
    std::vector<std::string> out;
    for (auto const& one : queue.tasks(what)) out.push_back(one.key + " " + one.remark);
    return out;
  };
  EXPECT_THAT(lines({.retrying = true}), ElementsAre("k0 no bread", "k2 no butter"));
  EXPECT_THAT(lines({}), ElementsAre("k0 no bread", "k2 no butter", "k3 "));
  EXPECT_THAT(lines({.limit = 1, .retrying = true}), ElementsAre("k0 no bread"));
  clock_.advance(2h);
  ASSERT_EQ(end_all(queue, result::failure("no jam")), 3U);
  EXPECT_THAT(lines({.retrying = true}), ElementsAre("k3 no jam"));
  EXPECT_THAT(lines({.state = daybook::task_state::dead}), ElementsAre("k0 no jam", "k2 no jam"));
}

TEST_P(last_failures, the_step_of_a_child_is_kept_with_an_attempt_that_fails) {
  auto run = taken(book_.start(nightly_, day_));
  EXPECT_EQ(fault_of([&] { run.step_in_hand(std::string(256, 's')); }), error_code::bad_argument);
  run.step_in_hand("load");
  run.step_in_hand("upload");
  ASSERT_EQ(daybook::testing::renew(book_), daybook::lease_state::held);
  EXPECT_EQ(seen().info.holder.value().in_hand, "upload");
  EXPECT_TRUE(std::move(run).fail("no paper"));
  EXPECT_EQ(seen().attempts.back().in_hand, "upload");
  auto next = taken(book_.start(nightly_, day_));
  next.step_in_hand("upload");
  EXPECT_TRUE(std::move(next).finish());
  EXPECT_EQ(seen().attempts.back().in_hand, "") << "it has succeeded";
}

DAYBOOK_ON_EVERY_ENGINE(last_failures);

}  // namespace
}  // namespace conformance
