// Aggregations of several at once, and of those whose replies are lost.
#include "conformance/aggregating.hpp"

#include <atomic>
#include <thread>

namespace conformance {
namespace {

class gathered_twice : public aggregating {
 protected:
  void cut(std::string const& failpoint) {
    daybook::testing::arm(failpoint, failpoint_action::cut);
  }
  void many(int rows, int workers) {
    std::string sql = "insert into t_move_brick (move_no, worker_id, move_num, status) values ";
    for (int i = 0; i < rows; ++i) {
      sql += (i == 0 ? "('N" : ", ('N") + std::to_string(i) + "', " + std::to_string(i % workers) +
             ", 1, 1)";
    }
    database_.execute(sql);
  }
  [[nodiscard]] std::string total() const {
    return database_.query("select sum(move_sum) from t_move_pay where status <> 4");
  }
};

TEST_P(gathered_twice, a_lost_reply_does_nothing_twice) {
  for (auto const* place : {".begun", ".before_commit", ".committed"}) {
    SCOPED_TRACE(place);
    auto pay = declared();
    move({{101, 1}, {101, 2}, {102, 3}});
    cut("aggregate" + std::string(place));
    auto const done = pay.aggregate();
    EXPECT_EQ(done.rows, 3);
    EXPECT_EQ(done.parents, 2);
    EXPECT_THAT(wrong(pay), IsEmpty());
    cut("remove_row" + std::string(place));
    auto const row = pay.rows(pay_of(101)).front().key;
    EXPECT_EQ(pay.remove(row, alice), settling::done);
    EXPECT_EQ(database_.query("select move_sum from t_move_pay where status = 1 and worker_id = "
                              "101"),
              "2");
    auto const key = pay_of(101);
    auto const other = pay_of(102);
    cut("close" + std::string(place));
    EXPECT_EQ(pay.close(key, alice), settling::done);
    cut("settle" + std::string(place));
    EXPECT_EQ(pay.settle(key, alice), settling::done);
    cut("revert" + std::string(place));
    EXPECT_EQ(pay.revert(other, alice), settling::done);
    EXPECT_THAT(wrong(pay), IsEmpty());
    EXPECT_THAT(pay.history(key), SizeIs(3));
    EXPECT_THAT(pay.history(other), SizeIs(1));
    cut("aggregate_range" + std::string(place));
    EXPECT_EQ(pay.aggregate().rows, 2);
    daybook::testing::disarm();
    pay.close_all(alice);
    for (auto const& one : pay.parents({.state = std::int64_t{2}})) pay.settle(one.key, alice);
    EXPECT_THAT(wrong(pay), IsEmpty());
  }
}

TEST_P(gathered_twice, a_chunk_that_fails_half_way_leaves_nothing) {
  auto pay = declared();
  move({{101, 1}});
  daybook::testing::arm("aggregate.before_commit", failpoint_action::fail);
  EXPECT_THROW(pay.aggregate(), daybook::error);
  EXPECT_EQ(bricks("status = 1 and pay_no = ''"), "1");
  EXPECT_THAT(pays(), IsEmpty());
  EXPECT_EQ(rows_of("aggregation_parent"), "0");
  EXPECT_EQ(pay.aggregate().rows, 1);
}

TEST_P(gathered_twice, many_at_once_take_each_row_once) {
  auto options = aggregating::options();
  options.chunk = 40;
  declared(options);
  many(600, 7);
  std::atomic<std::int64_t> rows = 0;
  std::atomic<std::int64_t> parents = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back([&] {
      auto book = database_.open();
      auto const done = book.make_aggregation("pay", options).aggregate();
      rows += done.rows;
      parents += done.parents;
    });
  }
  for (auto& one : all) one.join();
  EXPECT_EQ(rows + declared(options).aggregate().rows, 600);
  EXPECT_EQ(parents, 7);
  EXPECT_EQ(total(), "600");
  EXPECT_THAT(wrong(declared(options)), IsEmpty());
}

TEST_P(gathered_twice, all_verbs_at_once_keep_the_sums) {
  auto options = aggregating::options();
  options.chunk = 25;
  declared(options);
  many(400, 5);
  std::atomic<bool> over = false;
  std::vector<std::thread> all;
  for (int i = 0; i < 2; ++i) {
    all.emplace_back([&] {
      auto book = database_.open();
      auto pay = book.make_aggregation("pay", options);
      while (!over) pay.aggregate();
    });
  }
  for (int i = 0; i < 2; ++i) {
    all.emplace_back([&, i] {
      auto book = database_.open();
      auto pay = book.make_aggregation("pay", options);
      for (int round = 0; round < 6; ++round) {
        for (auto const& one : pay.parents({.state = std::int64_t{1}})) {
          if (i == 0) pay.revert(one.key, alice);
          if (i == 1 && pay.close(one.key, alice) == settling::done) pay.settle(one.key, alice);
        }
      }
    });
  }
  all[2].join();
  all[3].join();
  over = true;
  all[0].join();
  all[1].join();
  auto pay = declared(options);
  pay.aggregate();
  pay.aggregate();
  EXPECT_THAT(wrong(pay), IsEmpty());
  EXPECT_EQ(total(), "400");
  EXPECT_EQ(bricks("status = 1"), "0");
}

TEST_P(gathered_twice, a_revert_and_a_settle_of_one_parent_exclude_each_other) {
  auto pay = declared();
  for (int round = 0; round < 5; ++round) {
    move({{101, 1}, {101, 2}});
    pay.aggregate();
    auto const key = pay_of(101);
    pay.close(key, alice);
    settling settled{};
    std::array<settling, 2> reverted{};
    std::thread one([&] { settled = pay.settle(key, alice); });
    std::thread two([&] { reverted[0] = pay.revert(key, alice); });
    std::thread three([&] { reverted[1] = pay.revert(key, alice); });
    one.join();
    two.join();
    three.join();
    auto const done = std::array{settled, reverted[0], reverted[1]};
    EXPECT_EQ(std::count(done.begin(), done.end(), settling::done), 1);
    EXPECT_THAT(wrong(pay), IsEmpty());
  }
}

TEST_P(gathered_twice, a_row_that_goes_away_or_changes_while_it_is_free_is_counted_as_it_is) {
  auto pay = declared();
  move({{101, 1}, {101, 2}});
  pay.aggregate();
  move({{101, 4}, {102, 8}});
  database_.execute("delete from t_move_brick where id = 3");
  database_.execute("update t_move_brick set worker_id = 101, move_num = 9 where id = 4");
  pay.aggregate();
  EXPECT_THAT(pays(), ElementsAre("101: 3 rows, 12, money 36, status 1"));
}

DAYBOOK_ON_EVERY_ENGINE(gathered_twice);

}  // namespace
}  // namespace conformance
