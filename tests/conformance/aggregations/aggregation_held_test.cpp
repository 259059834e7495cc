// Rows that others hold: an aggregation passes them over, a settlement waits for them.
#include "conformance/aggregating.hpp"

namespace conformance {
namespace {

using support::raw_connection;

class held_rows : public aggregating {
 protected:
  [[nodiscard]] static std::string adding(std::string const& name, int worker) {
    return "insert into t_move_brick (move_no, worker_id, move_num, status) values ('" + name +
           "', " + std::to_string(worker) + ", 1, 1)";
  }
};

TEST_P(held_rows, are_passed_over_and_taken_later) {
  if (on_sqlite()) return;  // one writer: nobody else holds a row
  for (int const chunk : {7, 10'000}) {
    SCOPED_TRACE(chunk);
    auto of = options();
    of.chunk = chunk;
    auto pay = declared(of);
    for (int i = 0; i < 50; ++i) move({{101, 1}, {102, 2}});
    auto const middle = database_.query("select max(id) - 40 from t_move_brick");
    raw_connection other(direct_url());
    other.execute("begin");
    other.execute(adding("N" + std::to_string(chunk), 109));
    other.execute("update t_move_brick set move_num = 5 where id = " + middle);
    for (int i = 0; i < 25; ++i) move({{101, 1}, {103, 3}});
    auto const first = pay.aggregate({.actor = "held"});
    EXPECT_EQ(first.rows, 149);
    EXPECT_TRUE(first.refused.empty());
    EXPECT_EQ(log_.count("retried aggregate"), 0U) << "it waits for nobody";
    EXPECT_EQ(database_.query("select count(*) from t_move_pay where worker_id = 109"),
              chunk == 7 ? "0" : "1");
    other.execute("commit");
    EXPECT_EQ(pay.aggregate({.actor = "held"}).rows, 2);
    EXPECT_EQ(bricks("status = 1"), "0");
    EXPECT_THAT(wrong(pay), IsEmpty());
  }
}

/// The only row of its group is another's: no parent is made for it.
TEST_P(held_rows, alone_in_their_group_make_no_parent) {
  if (on_sqlite()) return;
  auto pay = declared();
  move({{101, 1}, {102, 2}, {101, 3}});
  raw_connection other(direct_url());
  other.execute("begin");
  auto const row = " from t_move_brick where id = " +
                   database_.query("select id from t_move_brick where worker_id = 102");
  other.execute("select *" + row + " for update");
  EXPECT_EQ(pay.aggregate({.actor = "held"}).rows, 2);
  EXPECT_EQ(database_.query("select count(*) from t_move_pay"), "1");
  other.execute("delete" + row);
  other.execute("commit");
  EXPECT_EQ(pay.aggregate({.actor = "held"}).rows, 0);
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(held_rows, are_waited_for_by_a_settlement) {
  if (on_sqlite()) return;
  auto book = database_.open(watched(1s));  // a statement waits for a third of that
  auto pay = book.make_aggregation("pay", options());
  move({{101, 1}, {101, 2}});
  EXPECT_EQ(pay.aggregate({.actor = "held"}).rows, 2);
  auto const parent = pay_of(101);
  raw_connection other(direct_url());
  other.execute("begin");
  other.execute("select * from t_move_brick where worker_id = 101 for update");
  bool committed = false;
  log_.on_retry = [&] {
    if (!std::exchange(committed, true)) other.execute("commit");
  };
  ASSERT_EQ(pay.close(parent, alice), settling::done);
  EXPECT_EQ(pay.settle(parent, alice), settling::done);
  EXPECT_TRUE(committed) << "it waited, and was tried again";
  EXPECT_THAT(wrong(pay), IsEmpty());
  log_.on_retry = {};
}

DAYBOOK_ON_EVERY_ENGINE(held_rows);

}  // namespace
}  // namespace conformance
