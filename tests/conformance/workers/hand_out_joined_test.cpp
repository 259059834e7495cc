// Tasks that were handed out, finished in transactions of the application's.
#include "conformance/handing.hpp"

#include <optional>

namespace conformance {
namespace {

using daybook::result;
using daybook::task_fetcher;
using daybook::task_state;

class handing_out_joined : public handing {
 protected:
  /// Its effect and its end, in a transaction that is open when it returns.
  bool finish_in_mine(daybook::claimed_task& one) {
    begin();
    insert_mine("paid");
    auto const tx = adoption::join();
    return one.finish_in(*tx);
  }
};

TEST_P(handing_out_joined, a_task_ends_with_its_effect) {
  auto q = book_.make_queue("committed", {.record_every_outcome = true});
  q.import(keys(0, 2));
  task_fetcher out(q, quick());
  {
    auto one = must_come(out);
    EXPECT_TRUE(finish_in_mine(one));
    EXPECT_EQ(fault_of([&] { one.finish(result::failure("no")); }), error_code::bad_argument);
    EXPECT_EQ(out.counts().working, 1U) << "until its transaction is over";
    app_.execute("commit");
    EXPECT_EQ(state_of(q, one.task().key), task_state::succeeded);
    EXPECT_EQ(ended_rows(), "1");
  }
  out.stop();
  EXPECT_EQ(effects("paid"), "1");
  auto const counts = q.counts();
  EXPECT_EQ(counts.succeeded, 1);
  EXPECT_EQ(counts.waiting, 1);
  EXPECT_EQ(counts.claims, 0);
  EXPECT_EQ(rows_of("done"), "0");
}

TEST_P(handing_out_joined, a_rollback_takes_back_both) {
  auto q = book_.make_queue("rolled back");
  q.import(keys(0, 2));
  task_fetcher out(q, quick());
  {
    auto one = must_come(out);
    EXPECT_TRUE(finish_in_mine(one));
    app_.execute("rollback");
    must_come(out).finish(result::success());
  }
  out.stop();
  EXPECT_EQ(effects("paid"), "0");
  EXPECT_EQ(q.counts().succeeded, 1);
  auto again = q.claim().value();
  ASSERT_EQ(again.tasks().size(), 1U);
  EXPECT_EQ(again.tasks()[0].attempt, 1) << "it is not an attempt";
  EXPECT_EQ(again.perform(again.tasks()[0], insert("paid")), outcome::done);
  EXPECT_EQ(std::move(again).complete(), outcome::done);
  EXPECT_EQ(effects("paid"), "1");
}

TEST_P(handing_out_joined, of_a_lost_claim_nothing_is_finished) {
  auto q = book_.make_queue("lost");
  auto heirs = other_.queue("lost").value();
  q.import(keys(0, 2));
  task_fetcher out(q, {.poll = 3600000ms});
  auto one = must_come(out);
  auto beside = must_come(out);
  clock_.advance(1h);
  EXPECT_TRUE(takes_back(heirs));
  EXPECT_FALSE(finish_in_mine(one));
  app_.execute("rollback");
  EXPECT_TRUE(beside.lost().stop_requested()) << "they are of one claim";
  EXPECT_FALSE(finish_in_mine(beside));
  app_.execute("rollback");
  EXPECT_EQ(fault_of([&] { one.finish(result::success()); }), error_code::bad_argument);
  out.stop();
  EXPECT_EQ(effects("paid"), "0");
  EXPECT_EQ(state_of(heirs, "k0"), task_state::quarantined);
}

TEST_P(handing_out_joined, a_claim_is_not_taken_from_under_an_open_transaction) {
  if (on_sqlite()) return;  // nobody else can write there meanwhile
  auto q = book_.make_queue("open");
  auto heirs = other_.queue("open").value();
  q.import(keys(0, 2));
  task_fetcher out(q, {.poll = 3600000ms});
  auto one = must_come(out);
  auto beside = must_come(out);
  auto const done = one.task().key;
  q.pause();           // else the hand-out may take the suspect again
  clock_.advance(1h);  // before: on MariaDB the transaction locks the row of the clock, too
  EXPECT_TRUE(finish_in_mine(one));
  EXPECT_EQ(heirs.reclaim(), 0) << "it passes over it";
  app_.execute("commit");
  EXPECT_TRUE(takes_back(heirs));
  EXPECT_EQ(state_of(heirs, done), task_state::succeeded);
  // A suspect, that may be in hand again.
  EXPECT_EQ(heirs.find(key(beside.task().key)).value().crashes, 1);
  EXPECT_EQ(effects("paid"), "1");
}

TEST_P(handing_out_joined, a_transaction_of_another_book_is_refused) {
  auto options = watched();
  options.prefix = "strange_";
  auto strange = database_.open(options);
  auto q = book_.make_queue("refused");
  q.import(keys(0, 1));
  task_fetcher out(q, quick());
  auto one = must_come(out);
  begin();
  {
    auto const tx = adoption::join(strange, app_);
    EXPECT_EQ(fault_of([&] { one.finish_in(*tx); }), error_code::bad_argument);
  }
  app_.execute("rollback");
  EXPECT_EQ(one.finish(result::success()), outcome::done) << "it is as it was";
}

DAYBOOK_ON_EVERY_ENGINE(handing_out_joined);

}  // namespace
}  // namespace conformance
