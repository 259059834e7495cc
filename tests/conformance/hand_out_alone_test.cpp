// When the hand-out begins nothing: a suspect is alone in its process, and a process that others
// may take for dead does not begin what another may begin, too.
#include "handing.hpp"

#include <chrono>
#include <future>
#include <optional>
#include <thread>

namespace conformance {
namespace {

using daybook::hand_out;
using daybook::result;
using daybook::task_state;

class handing_out_alone : public handing {
 protected:
  /// k0 has killed a worker.
  void leave_a_suspect(std::string const& name) {
    auto q = other_.make_queue(name);
    q.import(keys(0, 1));
    auto dead = q.claim().value();
    clock_.advance(1h);
    ASSERT_TRUE(takes_back(book_.queue(name).value()));
    EXPECT_EQ(std::move(dead).complete(), outcome::lost);
  }
};

TEST_P(handing_out_alone, a_suspect_waits_for_what_threads_have) {
  leave_a_suspect("waits");
  auto q = book_.queue("waits").value();
  q.import(keys(1, 3));
  hand_out out(q, {.batch = 2, .poll = 20ms});
  auto one = std::make_optional(must_come(out));
  auto two = std::make_optional(must_come(out));
  EXPECT_EQ(one->task().crashes + two->task().crashes, 0);
  EXPECT_TRUE(none_comes(out));
  one->finish(result::success());
  EXPECT_TRUE(none_comes(out));
  EXPECT_EQ(state_of(q, "k0"), task_state::suspect) << "it is not even claimed";
  two->finish(result::success());
  auto suspect = must_come(out);
  EXPECT_EQ(suspect.task().key, "k0");
  EXPECT_EQ(out.counts().working, 1U);
  suspect.finish(result::success());
}

TEST_P(handing_out_alone, nothing_is_begun_beside_a_suspect) {
  leave_a_suspect("beside");
  auto q = book_.queue("beside").value();
  hand_out out(q, {.batch = 2, .ahead = 3, .poll = 5ms});
  auto suspect = must_come(out);
  EXPECT_EQ(suspect.task().key, "k0");
  q.import(keys(1, 9));
  out.wake();
  EXPECT_TRUE(none_comes(out));
  EXPECT_EQ(out.counts().claims, 1U);
  EXPECT_EQ(q.counts().claims, 1);
  suspect.finish(result::success());
  EXPECT_EQ(must_come(out).task().crashes, 0);
}

TEST_P(handing_out_alone, a_suspect_waits_for_a_task_of_a_claim_that_was_lost) {
  auto q = other_.make_queue("lost");
  auto mine = book_.queue("lost").value();
  q.import(keys(0, 3));
  hand_out out(mine, {.batch = 3, .poll = 5ms});
  auto one = std::make_optional(must_come(out));
  // Two come first, and one ahead: else that is no suspect, and is handed out.
  ASSERT_TRUE(comes_true([&] { return out.counts().waiting == 2; }));
  clock_.advance(1h);
  ASSERT_TRUE(takes_back(q));
  // All are suspects now. The process hears of it; its thread does not stop at once.
  static_cast<void>(daybook::testing::renew(book_));  // it may know by its own claim
  EXPECT_TRUE(comes_true([&] { return out.counts().claims == 0; }));
  EXPECT_TRUE(none_comes(out));
  EXPECT_EQ(one->finish(result::success()), outcome::lost);
  auto suspect = must_come(out);
  EXPECT_EQ(suspect.task().crashes, 1);
  EXPECT_EQ(out.counts().working, 1U);
  suspect.finish(result::success());
}

TEST_P(handing_out_alone, a_suspect_that_was_waited_for_waits_for_that_task_too) {
  leave_a_suspect("emptied");
  auto q = book_.queue("emptied").value();
  q.import(keys(1, 3));
  hand_out out(q, {.batch = 2, .poll = 1ms});
  auto one = std::make_optional(must_come(out));
  auto two = std::make_optional(must_come(out));
  // A look around has seen the suspect; from then on the process runs empty.
  EXPECT_TRUE(none_comes(out));
  q.import(keys(3, 4));
  EXPECT_TRUE(none_comes(out));
  clock_.advance(1h);
  ASSERT_TRUE(takes_back(other_.queue("emptied").value()));
  static_cast<void>(daybook::testing::renew(book_));  // it may know by its own claim
  EXPECT_TRUE(comes_true([&] { return out.counts().claims == 0; }));
  EXPECT_EQ(one->finish(result::success()), outcome::lost);
  EXPECT_TRUE(none_comes(out));
  EXPECT_EQ(two->finish(result::success()), outcome::lost);
  EXPECT_EQ(must_come(out).task().crashes, 1);
}

/// Where there is always other work, a worker that died with many leaves as many suspects.
TEST_P(handing_out_alone, suspects_are_done_together_once_the_process_is_empty) {
  auto theirs = other_.make_queue("busy");
  auto q = book_.queue("busy").value();
  theirs.import(keys(0, 3));
  auto const dead = theirs.claim();
  clock_.advance(1h);
  static_cast<void>(daybook::testing::renew(book_));
  ASSERT_TRUE(takes_back(q));
  q.import(keys(3, 3000));
  hand_out out(q, {.batch = 2, .poll = 1ms});
  std::string order;
  while (std::count(order.begin(), order.end(), 's') < 3 && order.size() < 2000) {
    auto one = must_come(out);
    order += one.task().crashes > 0 ? 's' : '.';
    one.finish(result::success());
  }
  EXPECT_NE(order.find("sss"), std::string::npos) << order;
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
  hand_out out(q, {.batch = 5, .ahead = 0, .poll = 20ms});
  hand_out later(idle, {.poll = 20ms});
  hand_out one_by_one(chain, {.batch = 1, .ahead = 0, .poll = 20ms});
  auto const renewing = [&](std::stop_token const& stop) {
    while (!stop.stop_requested()) {
      try {
        EXPECT_TRUE(daybook::testing::renew(brief));
      } catch (daybook::error const& e) {
        EXPECT_EQ(e.kind(), fault::conflict)
            << "others write for a third of the lease: " << e.what();
      }
    }
  };
  std::optional<daybook::handed> first;
  std::optional<daybook::handed> link;
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
  hand_out out(q, {.batch = 20, .poll = 3600000ms});
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
