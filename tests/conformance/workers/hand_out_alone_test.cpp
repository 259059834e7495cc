// Suspects have a place beside the others, and are alone before their last crash; and a process
// that others may take for dead does not begin what another may begin, too.
#include "conformance/handing.hpp"

#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <vector>

namespace conformance {
namespace {

using daybook::result;
using daybook::task_fetcher;
using daybook::task_state;

class handing_out_alone : public handing {
 protected:
  /// k0 has killed so many workers; three are its end.
  void leave_a_suspect(std::string const& name, int crashes) {
    auto q = other_.make_queue(name);
    q.import(keys(0, 1));
    for (int i = 0; i < crashes; ++i) {
      auto dead = q.claim({.quarantined = i > 0}).value();
      clock_.advance(1h);
      static_cast<void>(daybook::testing::renew(book_));  // it may know by its own claim
      ASSERT_TRUE(takes_back(book_.queue(name).value()));
      EXPECT_EQ(std::move(dead).complete(), outcome::lost);
    }
    EXPECT_EQ(q.find(key("k0")).value().crashes, crashes);
  }
};

TEST_P(handing_out_alone, a_suspect_has_a_place_beside_the_others) {
  leave_a_suspect("beside", 1);
  auto q = book_.queue("beside").value();
  q.import(keys(1, 9));
  task_fetcher out(q, {.batch = 20, .poll = 1ms});
  std::vector<daybook::claimed_task> had;
  int suspects = 0;
  while (had.size() < 9) {  // nothing of it waits for anything else
    had.push_back(must_come(out));
    suspects += had.back().task().crashes;
  }
  EXPECT_EQ(suspects, 1);
  for (auto& one : had) one.finish(result::success());
  out.stop();
  EXPECT_EQ(q.counts().succeeded, 9);
}

TEST_P(handing_out_alone, of_suspects_one_is_in_hand_and_others_go_on) {
  auto theirs = other_.make_queue("many");
  auto q = book_.queue("many").value();
  theirs.import(keys(0, 3));
  auto const dead = theirs.claim();
  clock_.advance(1h);
  static_cast<void>(daybook::testing::renew(book_));
  ASSERT_TRUE(takes_back(q));
  task_fetcher out(q, {.poll = 1ms});
  auto one = std::make_optional(must_come(out));
  EXPECT_EQ(one->task().crashes, 1);
  EXPECT_TRUE(none_comes(out)) << "the other suspects wait for this one";
  q.import(keys(3, 6));
  for (int i = 0; i < 3; ++i) {
    auto other = must_come(out);
    EXPECT_EQ(other.task().crashes, 0);
    other.finish(result::success());
  }
  for (int i = 1; i < 3; ++i) {
    one->finish(result::success());
    one = must_come(out);
    EXPECT_EQ(one->task().crashes, 1);
  }
  one->finish(result::success());
}

TEST_P(handing_out_alone, a_suspect_before_its_last_crash_waits_for_what_threads_have) {
  leave_a_suspect("waits", 2);
  auto q = book_.queue("waits").value();
  q.import(keys(1, 3));
  task_fetcher out(q, {.batch = 2, .poll = 20ms});
  auto both = out.next_batch(2, 60000ms);  // at once: the suspect keeps others from coming
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].task().crashes + both[1].task().crashes, 0);
  EXPECT_TRUE(none_comes(out));
  both[0].finish(result::success());
  EXPECT_TRUE(none_comes(out));
  both[1].finish(result::success());
  auto suspect = must_come(out);
  EXPECT_EQ(suspect.task().key, "k0");
  EXPECT_EQ(out.counts().working, 1U);
  suspect.finish(result::success());
}

TEST_P(handing_out_alone, nothing_is_begun_beside_a_suspect_before_its_last_crash) {
  leave_a_suspect("quiet", 2);
  auto q = book_.queue("quiet").value();
  task_fetcher out(q, {.batch = 2, .ahead = 3, .poll = 5ms});
  auto suspect = must_come(out);
  EXPECT_EQ(suspect.task().key, "k0");
  q.import(keys(1, 9));
  out.wake();
  EXPECT_TRUE(none_comes(out));
  suspect.finish(result::success());
  EXPECT_EQ(must_come(out).task().crashes, 0);
}

TEST_P(handing_out_alone, a_suspect_that_only_waits_is_not_to_blame) {
  leave_a_suspect("innocent", 2);
  auto q = book_.queue("innocent").value();
  auto heirs = other_.queue("innocent").value();
  q.import(keys(1, 2));
  task_fetcher out(q, {.batch = 2, .poll = 20ms});
  auto one = must_come(out);
  EXPECT_TRUE(comes_true([&] { return out.counts().waiting == 1; }));
  EXPECT_EQ(state_of(q, "k0"), task_state::running);
  clock_.advance(1h);
  auto const first = q.find(key("k0")).value().claim;
  auto const is_over = [&] {
    heirs.reclaim();
    return q.find(key("k0")).value().claim != first;
  };
  EXPECT_TRUE(comes_true(is_over));
  EXPECT_NE(state_of(q, "k0"), task_state::dead);
  EXPECT_EQ(q.find(key("k0")).value().crashes, 2);
  one.finish(result::success());
}

TEST_P(handing_out_alone, a_suspect_waits_for_a_task_of_a_claim_that_was_lost) {
  auto q = other_.make_queue("lost", {.crash_limit = 2});
  auto mine = book_.queue("lost").value();
  q.import(keys(0, 1));
  task_fetcher out(mine, {.batch = 3, .poll = 5ms});
  auto one = std::make_optional(must_come(out));
  clock_.advance(1h);
  ASSERT_TRUE(takes_back(q));
  // It is a suspect now. The process hears of it; its thread does not stop at once.
  static_cast<void>(daybook::testing::renew(book_));  // it may know by its own claim
  EXPECT_TRUE(comes_true([&] { return one->lost().stop_requested(); }));
  EXPECT_TRUE(none_comes(out));
  EXPECT_EQ(one->finish(result::success()), outcome::lost);
  auto suspect = must_come(out);
  EXPECT_EQ(suspect.task().crashes, 1);
  EXPECT_EQ(out.counts().working, 1U);
  suspect.finish(result::success());
}

TEST_P(handing_out_alone, who_may_be_taken_for_dead_begins_nothing_until_it_has_renewed) {
  constexpr auto lease = 1s;
  auto brief = database_.open(watched(lease));
  auto q = brief.make_queue("brief");
  auto idle = brief.make_queue("idle");
  auto chain = brief.make_queue("chain");
  q.import(keys(0, 10));
  idle.import(keys(0, 10));
  chain.import(keys(0, 10));
  task_fetcher out(q, {.batch = 5, .ahead = 0, .poll = 20ms});
  task_fetcher later(idle, {.poll = 20ms});
  task_fetcher one_by_one(chain, {.batch = 1, .ahead = 0, .poll = 20ms});
  auto const renewing = [&](std::stop_token const& stop) {
    while (!stop.stop_requested()) {
      try {
        EXPECT_EQ(daybook::testing::renew(brief), daybook::lease_state::held);
      } catch (daybook::error const& e) {
        EXPECT_EQ(e.kind(), error_code::conflict)
            << "others write for a third of the lease: " << e.what();
      }
    }
  };
  std::optional<daybook::claimed_task> first;
  std::optional<daybook::claimed_task> link;
  {
    // However slow this machine is: the lease does not run low until it is there.
    std::jthread const renews(renewing);
    first = must_come(out);
    link = must_come(one_by_one);
  }
  // By the host's clock, which nobody can move. By the database's, the lease has hardly begun.
  std::this_thread::sleep_for(lease);
  EXPECT_TRUE(none_comes(out));
  EXPECT_GT(out.counts().waiting, 0U);
  EXPECT_TRUE(none_comes(later));
  EXPECT_EQ(idle.counts().claims, 0) << "nor is anything claimed";
  link->finish(result::success());
  EXPECT_TRUE(comes_true([&] { return chain.counts().succeeded == 1; }));
  EXPECT_EQ(chain.counts().claims, 0) << "nor with the end of another claim";
  EXPECT_EQ(first->finish(result::success()), outcome::done) << "what is begun goes on";
  std::jthread const renews(renewing);
  EXPECT_EQ(must_come(out).finish(result::success()), outcome::done);
  EXPECT_EQ(must_come(later).finish(result::success()), outcome::done);
}

TEST_P(handing_out_alone, the_dead_begin_nothing_although_the_next_look_is_far) {
  auto q = book_.make_queue("unseen");
  q.import(keys(0, 20));
  task_fetcher out(q, {.batch = 20, .poll = 3600000ms});
  auto one = must_come(out);
  clock_.advance(1h);
  EXPECT_TRUE(takes_back(other_.queue("unseen").value()));
  static_cast<void>(daybook::testing::renew(book_));  // it may know by its own claim
  auto next = std::async(std::launch::async, [&] { return must_come(out); });
  EXPECT_TRUE(comes_true([&] { return one.lost().stop_requested(); }));
  EXPECT_EQ(one.finish(result::success()), outcome::lost);
  auto const came = next.get();
  EXPECT_EQ(state_of(q, came.task().key), task_state::running) << "those of the old are suspects";
}

DAYBOOK_ON_EVERY_ENGINE(handing_out_alone);

}  // namespace
}  // namespace conformance
