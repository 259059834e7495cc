// Several tasks and their effect in one transaction: of one claim, and of several in one hand.
#include "conformance/handing.hpp"

#include <functional>
#include <vector>

namespace conformance {
namespace {

using daybook::claim;
using daybook::claimed_task;
using daybook::result;
using daybook::task;
using daybook::task_fetcher;
using daybook::task_state;

class finishing_together : public handing {
 protected:
  static std::vector<task const*> first(claim const& of, std::size_t count) {
    std::vector<task const*> out;
    for (auto const& one : of.tasks().first(count)) out.push_back(&one);
    return out;
  }
  static std::vector<claimed_task*> all_of(std::vector<claimed_task>& of) {
    std::vector<claimed_task*> out;
    for (auto& one : of) out.push_back(&one);
    return out;
  }
  /// Two tasks whose claims are two: of the first life of this process, which was declared dead,
  /// and of its second.
  /// What was lost is not handed out again.
  daybook::queue_options const once{.mode = daybook::step_mode::at_most_once};
  std::vector<claimed_task> of_two_lives(daybook::queue& q, task_fetcher& out) {
    q.import(keys(0, 1));
    std::vector<claimed_task> both;
    both.push_back(must_come(out));
    clock_.advance(1h);
    EXPECT_TRUE(takes_back(other_.queue(q.name()).value()));
    q.import(keys(1, 2));
    both.push_back(must_come(out));
    return both;
  }
  bool finish_in_mine(std::vector<claimed_task>& these) {
    begin();
    insert_mine("paid");
    auto const tx = adoption::join();
    return claimed_task::finish_in(*tx, all_of(these));
  }
  /// Tasks: neighbours that ended alike share a row.
  [[nodiscard]] std::string in_ledger() const {
    return database_.query("select sum(hi - lo) from daybook_done where lo > 0");
  }
};

TEST_P(finishing_together, of_one_claim_each_is_done_with_the_effect) {
  auto q = book_.make_queue("claimed");
  q.import(keys(0, 10));
  auto batch = q.claim().value();
  EXPECT_EQ(batch.perform(first(batch, 4), insert("paid")), outcome::done);
  EXPECT_EQ(effects("paid"), "1");
  EXPECT_EQ(in_ledger(), "4");
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(q.counts().succeeded, 4);
  EXPECT_EQ(q.counts().waiting, 6);
}

TEST_P(finishing_together, a_body_that_throws_finishes_none_of_them) {
  auto q = book_.make_queue("thrown");
  q.import(keys(0, 3));
  auto batch = q.claim().value();
  auto const all = first(batch, 3);
  EXPECT_THROW(batch.perform(all,
                             [](transaction& tx) {
                               insert("paid")(tx);
                               throw std::runtime_error("no");
                             }),
               std::runtime_error);
  EXPECT_EQ(effects("paid"), "0");
  EXPECT_EQ(rows_of("done"), "0");
  EXPECT_EQ(batch.perform(all, insert("paid")), outcome::done);
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(effects("paid"), "1");
  EXPECT_EQ(q.counts().succeeded, 3);
}

TEST_P(finishing_together, one_that_is_finished_or_foreign_or_twice_there_spoils_none) {
  auto q = book_.make_queue("spoiled");
  q.import(keys(0, 4));
  auto batch = q.claim({.limit = 3}).value();
  auto stranger = q.claim().value();
  batch.finish(batch.tasks()[2], result::success());
  task const* const one = &batch.tasks()[0];
  task const* const two = &batch.tasks()[1];
  for (auto const& wrong : std::vector<std::vector<task const*>>{
           {}, {one, &batch.tasks()[2]}, {one, &stranger.tasks()[0]}, {one, two, one}}) {
    EXPECT_EQ(fault_of([&] { batch.perform(wrong, insert("paid")); }), error_code::bad_argument);
  }
  EXPECT_EQ(effects("paid"), "0");
  EXPECT_EQ(batch.perform(first(batch, 2), insert("paid")), outcome::done);
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(q.counts().succeeded, 3);
}

TEST_P(finishing_together, once_also_where_the_reply_is_lost) {
  auto q = book_.make_queue("replies");
  q.import(keys(0, 9));
  auto batch = q.claim().value();
  std::size_t at = 0;
  for (auto const* place : {"perform.effect_done", "perform.before_commit", "perform.committed"}) {
    SCOPED_TRACE(place);
    daybook::testing::arm(place, failpoint_action::cut);
    std::vector<task const*> some;
    for (int i = 0; i < 3; ++i) some.push_back(&batch.tasks()[at++]);
    EXPECT_EQ(batch.perform(some, insert(place)), outcome::done);
    EXPECT_EQ(effects(place), "1");
    EXPECT_EQ(in_ledger(), std::to_string(at));
  }
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(q.counts().succeeded, 9);
}

TEST_P(finishing_together, of_a_lost_claim_nothing_is_written) {
  auto q = book_.make_queue("lost");
  q.import(keys(0, 3));
  auto batch = q.claim().value();
  clock_.advance(1h);
  ASSERT_EQ(other_.queue("lost").value().reclaim(), 1);
  EXPECT_EQ(batch.perform(first(batch, 3), insert("paid")), outcome::lost);
  EXPECT_EQ(effects("paid"), "0");
  EXPECT_EQ(rows_of("done"), "0");
  EXPECT_EQ(q.counts().quarantined, 3);
}

TEST_P(finishing_together, in_a_transaction_of_the_applications) {
  auto q = book_.make_queue("joined");
  q.import(keys(0, 4));
  auto batch = q.claim().value();
  auto const four = first(batch, 4);
  for (bool const commits : {false, true}) {
    auto const some =
        std::vector(four.begin() + (commits ? 2 : 0), four.begin() + (commits ? 4 : 2));
    begin();
    insert_mine("paid");
    auto const tx = adoption::join();
    EXPECT_TRUE(batch.finish_in(*tx, some));
    app_.execute(commits ? "commit" : "rollback");
  }
  EXPECT_EQ(std::move(batch).complete(), outcome::done);
  EXPECT_EQ(effects("paid"), "1");
  EXPECT_EQ(q.counts().succeeded, 2);
  EXPECT_EQ(q.counts().waiting, 2);
}

TEST_P(finishing_together, of_several_claims_in_one_hand) {
  auto q = book_.make_queue("many claims");
  q.import(keys(0, 6));
  task_fetcher out(q, {.batch = 2, .ahead = 2, .flush_every = 60000ms, .poll = 20ms});
  std::vector<claimed_task> all;
  while (all.size() < 6) {
    for (auto& one : out.next_batch(6 - all.size(), 50ms)) all.push_back(std::move(one));
  }
  EXPECT_EQ(q.counts().claims, 3);
  daybook::testing::arm("perform.committed", failpoint_action::cut);
  EXPECT_EQ(claimed_task::perform(all_of(all), insert("paid")), outcome::done);
  EXPECT_EQ(effects("paid"), "1");
  EXPECT_EQ(fault_of([&] { claimed_task::perform(all_of(all), insert("paid")); }),
            error_code::bad_argument);
  out.stop();
  EXPECT_EQ(q.counts().succeeded, 6);
  EXPECT_EQ(q.counts().claims, 0);
}

TEST_P(finishing_together, one_lost_claim_of_two_means_nothing_for_both) {
  auto q = book_.make_queue("half lost", once);
  task_fetcher out(q, {.poll = 20ms});
  auto both = of_two_lives(q, out);
  EXPECT_EQ(claimed_task::perform(all_of(both), insert("paid")), outcome::lost);
  EXPECT_EQ(effects("paid"), "0");
  EXPECT_EQ(ended_rows(), "0");
  EXPECT_TRUE(both[0].finished());
  ASSERT_FALSE(both[1].finished()) << "its claim is this process's still";
  EXPECT_EQ(both[1].perform(insert("paid")), outcome::done);
  out.stop();
  EXPECT_EQ(effects("paid"), "1");
  EXPECT_EQ(state_of(q, "k0"), task_state::unknown);
  EXPECT_EQ(state_of(q, "k1"), task_state::succeeded);
}

TEST_P(finishing_together, one_lost_claim_of_two_refuses_the_applications_transaction) {
  auto q = book_.make_queue("half joined", once);
  task_fetcher out(q, {.poll = 20ms});
  auto both = of_two_lives(q, out);
  std::swap(both[0], both[1]);  // what was written before the lost one is found goes, too
  EXPECT_FALSE(finish_in_mine(both));
  app_.execute("rollback");
  both.clear();
  out.stop();
  EXPECT_EQ(effects("paid"), "0");
  EXPECT_EQ(state_of(q, "k0"), task_state::unknown);
  EXPECT_NE(state_of(q, "k1"), task_state::succeeded);
}

TEST_P(finishing_together, a_batch_is_waited_for_and_a_suspect_comes_alone) {
  auto q = other_.make_queue("gathered");
  auto heirs = book_.queue("gathered").value();
  q.import(keys(0, 1));
  auto dead = q.claim().value();
  clock_.advance(1h);
  ASSERT_EQ(heirs.reclaim(), 1);
  task_fetcher out(heirs, quick());
  {
    auto const alone = out.next_batch(10, 60000ms);
    ASSERT_EQ(alone.size(), 1U);
    EXPECT_EQ(alone[0].task().crashes, 1);
  }
  heirs.import(keys(1, 4));
  auto three = std::async(std::launch::async, [&] { return out.next_batch(3, 60000ms); });
  EXPECT_EQ(three.get().size(), 3U);
  heirs.import(keys(4, 5));
  EXPECT_EQ(out.next_batch(10, 1ms).size(), 1U) << "no more come";
  EXPECT_EQ(fault_of([&] { static_cast<void>(out.next_batch(0, 1ms)); }), error_code::bad_argument);
  for (auto const gather : {std::chrono::milliseconds::max(), -1ms, 1h + 1ms}) {
    EXPECT_EQ(fault_of([&] { static_cast<void>(out.next_batch(1, gather)); }),
              error_code::bad_argument);
  }
}

DAYBOOK_ON_EVERY_ENGINE(finishing_together);

}  // namespace
}  // namespace conformance
