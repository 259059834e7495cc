// What the book knows of what was begun: of a dead worker's claim that is suspect, or unknown, and
// all else goes back as it was.
#include "conformance/working.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace conformance {
namespace {

using daybook::beginning;
using daybook::claimed_task;
using daybook::step_mode;
using daybook::task_fetcher;

constexpr daybook::claim_options announced{.beginning = beginning::announced};

class beginnings : public working {
 protected:
  /// The holder of everything in hand is dead, and its heir has taken that back.
  void dies(daybook::queue heirs) {
    auto const before = claims_of(heirs);
    clock_.advance(1h);
    auto const over = [&] {
      static_cast<void>(heirs.reclaim());  // passes over a claim that a transaction has open
      auto const now = claims_of(heirs);
      return std::none_of(before.begin(), before.end(),
                          [&](auto const& one) { return now.count(one) > 0; });
    };
    ASSERT_TRUE(comes_true(over));
  }
  /// Of the tasks k0, k1, ... that are in hand.
  static std::set<std::string> claims_of(daybook::queue const& of) {
    std::set<std::string> out;
    for (int i = 0; auto const task = of.find(key("k" + std::to_string(i))); ++i) {
      if (task->state == task_state::running) out.insert(task->claim);
    }
    return out;
  }
  static daybook::task_info info(daybook::queue const& of, std::string const& name) {
    return of.find(key(name)).value();
  }
  /// "k0 suspect, k1 waiting"
  static std::string states(daybook::queue const& of, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) {
      auto const name = "k" + std::to_string(i);
      out += (i > 0 ? ", " : "") + name + " " + std::string(word_of(state_of(of, name)));
    }
    return out;
  }
  std::string begun_rows() {
    return database_.query("select count(*) from daybook_done where state = 1 and hi < 0");
  }
};

TEST_P(beginnings, of_a_claim_that_announces_them_only_those_are_suspects) {
  auto q = book_.make_queue("announced");
  auto heirs = other_.queue("announced").value();
  q.import(keys(0, 6));
  auto const before = info(q, "k5");
  auto batch = q.claim(announced).value();
  auto const& tasks = batch.tasks();
  std::vector<daybook::task const*> const two{&tasks[3], &tasks[1]};
  EXPECT_EQ(batch.begin(two), outcome::done);
  EXPECT_EQ(batch.begin(tasks[2]), outcome::done);
  EXPECT_EQ(batch.begin(tasks[2]), outcome::done) << "twice is as good as once";
  batch.finish(tasks[3], result::success());
  ASSERT_TRUE(batch.flush());
  EXPECT_EQ(fault_of([&] { batch.begin(tasks[3]); }), error_code::bad_argument);
  dies(heirs);
  EXPECT_EQ(states(heirs, 6),
            "k0 waiting, k1 suspect, k2 suspect, k3 succeeded, k4 waiting, k5 waiting");
  auto const after = info(heirs, "k5");
  EXPECT_EQ(after.due, before.due);
  EXPECT_EQ(after.crashes, 0);
  EXPECT_EQ(info(heirs, "k1").crashes, 1);
  EXPECT_TRUE(heirs.outcomes(key("k5")).empty()) << "nothing has happened to it";
  EXPECT_EQ(heirs.outcomes(key("k1")).size(), 1U);
  EXPECT_EQ(batch.begin(tasks[0]), outcome::lost);
  auto next = heirs.claim().value();
  EXPECT_EQ(next.tasks().size(), 3U) << "at once, and together";
  EXPECT_EQ(std::move(next).complete(), outcome::done);
  EXPECT_EQ(rows_of("done"), "0");
}

TEST_P(beginnings, where_nothing_may_be_done_twice_only_the_begun_are_unknown) {
  auto q = book_.make_queue("once", {.mode = step_mode::at_most_once});
  auto heirs = other_.queue("once").value();
  q.import(keys(0, 4));
  auto batch = q.claim(announced).value();
  EXPECT_EQ(batch.begin(batch.tasks()[1]), outcome::done);
  dies(heirs);
  EXPECT_EQ(states(heirs, 4), "k0 waiting, k1 unknown, k2 waiting, k3 waiting");
}

TEST_P(beginnings, of_a_claim_that_announces_none_all_were_begun) {
  auto q = book_.make_queue("all");
  auto heirs = other_.queue("all").value();
  q.import(keys(0, 2));
  auto batch = q.claim().value();
  EXPECT_EQ(batch.begin(batch.tasks()[0]), outcome::done);
  EXPECT_EQ(rows_of("done"), "0") << "the claim says so";
  dies(heirs);
  EXPECT_EQ(states(heirs, 2), "k0 suspect, k1 suspect");
}

TEST_P(beginnings, the_next_claim_announces_them_too) {
  auto q = book_.make_queue("next");
  auto heirs = other_.queue("next").value();
  q.import(keys(0, 4));
  auto batch = q.claim({.limit = 2, .beginning = beginning::announced}).value();
  for (auto const& one : batch.tasks()) {
    EXPECT_EQ(batch.begin(one), outcome::done);
    batch.finish(one, result::success());
  }
  auto turned = std::move(batch).complete_and_claim(2);
  EXPECT_EQ(turned.ended, outcome::done);
  ASSERT_TRUE(turned.next.has_value());
  EXPECT_EQ(turned.next->begin(turned.next->tasks()[0]), outcome::done);
  dies(heirs);
  EXPECT_EQ(states(heirs, 4), "k0 succeeded, k1 succeeded, k2 suspect, k3 waiting");
}

TEST_P(beginnings, a_lost_reply_is_settled_and_nothing_is_written_twice) {
  auto q = book_.make_queue("replies");
  auto heirs = other_.queue("replies").value();
  q.import(keys(0, 4));
  auto batch = q.claim(announced).value();
  std::size_t at = 0;
  for (auto const* place : {"begin_task.before_commit", "begin_task.committed"}) {
    SCOPED_TRACE(place);
    daybook::testing::arm(place, failpoint_action::cut);
    EXPECT_EQ(batch.begin(batch.tasks()[at]), outcome::done);
    EXPECT_EQ(begun_rows(), std::to_string(++at));
  }
  EXPECT_EQ(batch.begin(batch.tasks()[at]), outcome::done) << "no doubt is left";
  dies(heirs);
  EXPECT_EQ(states(heirs, 4), "k0 suspect, k1 suspect, k2 suspect, k3 waiting");
}

TEST_P(beginnings, a_claim_whose_reply_is_lost_announces_them) {
  auto q = book_.make_queue("claimed", {.mode = step_mode::at_most_once});
  auto heirs = other_.queue("claimed").value();
  q.import(keys(0, 3));
  daybook::testing::arm("claim.committed", failpoint_action::cut);
  auto batch = q.claim(announced).value();
  EXPECT_EQ(batch.begin(batch.tasks()[0]), outcome::done);
  dies(heirs);
  EXPECT_EQ(states(heirs, 3), "k0 unknown, k1 waiting, k2 waiting");
}

TEST_P(beginnings, of_what_was_handed_out_once_nothing_else_is_unknown) {
  auto q = book_.make_queue("handed once", {.mode = step_mode::at_most_once});
  auto heirs = other_.queue("handed once").value();
  q.import(keys(0, 20));
  task_fetcher out(q, {.flush_every = 60000ms, .poll = 3600000ms});
  std::map<std::string, int> known;
  {
    std::vector<claimed_task> had;
    for (int i = 0; i < 3; ++i) had.push_back(must_come(out));
    for (auto& one : out.next_batch(4, 0ms)) had.push_back(std::move(one));
    for (auto const& one : had) ++known[one.task().key];
    had[0].finish(result::success());  // in memory only
    dies(heirs);
    for (auto& one : had) {
      if (!one.finished()) one.finish(result::success());
    }
  }
  EXPECT_GE(known.size(), 4U);
  for (int i = 0; i < 20; ++i) {
    auto const name = "k" + std::to_string(i);
    bool const unknown = state_of(heirs, name) == task_state::unknown;  // it may be claimed again
    EXPECT_EQ(known.count(name) > 0 ? "is begun" : "", unknown ? std::string("is begun") : "");
  }
}

TEST_P(beginnings, of_what_was_handed_out_nothing_else_is_suspect) {
  auto q = book_.make_queue("handed");
  auto heirs = other_.queue("handed").value();
  q.import(keys(0, 50));
  task_fetcher out(q, {.flush_every = 60000ms, .poll = 3600000ms});
  std::vector<claimed_task> had;
  for (int i = 0; i < 5; ++i) had.push_back(must_come(out));  // how long one takes is not known yet
  dies(heirs);
  EXPECT_EQ(heirs.counts().quarantined, 5);
  for (auto& one : had) {
    EXPECT_EQ(state_of(heirs, one.task().key), task_state::quarantined);
    one.finish(result::success());
  }
}

TEST_P(beginnings, who_was_handed_a_task_may_say_when_it_begins) {
  auto q = book_.make_queue("by hand", {.mode = step_mode::at_most_once});
  auto heirs = other_.queue("by hand").value();
  q.import(keys(0, 2));
  task_fetcher out(q,
                   {.flush_every = 60000ms, .poll = 3600000ms, .beginning = beginning::announced});
  auto one = must_come(out);
  auto two = must_come(out);
  EXPECT_EQ(one.begin(), outcome::done);
  dies(heirs);
  EXPECT_EQ(state_of(heirs, one.task().key), task_state::unknown);
  EXPECT_NE(state_of(heirs, two.task().key), task_state::unknown);
  EXPECT_EQ(two.begin(), outcome::lost);
  EXPECT_TRUE(two.finished());
  one.finish(result::success());
}

TEST_P(beginnings, a_drain_says_what_it_begins) {
  auto q = book_.make_queue("drained", {.mode = step_mode::at_most_once});
  auto heirs = other_.queue("drained").value();
  q.import(keys(0, 5));
  node pool(book_);
  pool.work("drained",
            [&](job& one) {
              if (one.task().key == "k2") dies(heirs);
              return result::success();
            },
            {.claims = {.flush_every = 60000ms}});
  pool.drain();
  // Of the first two nobody was told how they ended.
  EXPECT_EQ(states(heirs, 3), "k0 unknown, k1 unknown, k2 unknown");
  EXPECT_NE(state_of(heirs, "k3"), task_state::unknown);
  EXPECT_NE(state_of(heirs, "k4"), task_state::unknown);
}

TEST_P(beginnings, workers_do_all_of_a_queue_that_may_do_nothing_twice) {
  auto q = book_.make_queue("many", {.mode = step_mode::at_most_once});
  q.import(keys(0, 300));
  node pool(book_);
  pool.work("many", succeed, quickly(4));
  pool.start();
  EXPECT_TRUE(comes_true([&] { return q.counts().succeeded == 300; }));
  pool.stop();
  EXPECT_EQ(rows_of("done"), "0");
  EXPECT_EQ(q.counts().claims, 0);
}

TEST_P(beginnings, a_batch_is_whole_whatever_was_said_to_begin_before) {
  auto q = book_.make_queue("whole", {.mode = step_mode::at_most_once});
  q.import(keys(0, 60));
  task_fetcher out(q, {.batch = 60, .flush_every = 60000ms});
  auto const first = must_come(out).finish(result::success());
  EXPECT_EQ(first, outcome::done);
  for (int i = 0; i < 2; ++i) {
    auto some = out.next_batch(20, 60000ms);
    EXPECT_EQ(some.size(), 20U);
    for (auto& one : some) one.finish(result::success());
  }
}

DAYBOOK_ON_EVERY_ENGINE(beginnings);

}  // namespace
}  // namespace conformance
