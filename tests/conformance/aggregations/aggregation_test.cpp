// Aggregations: rows are gathered once, sums are exact, each step can be taken back.
#include "conformance/aggregating.hpp"

namespace conformance {
namespace {

class gathered : public aggregating {};

TEST_P(gathered, rows_go_into_one_parent_for_each_group) {
  move({{101, 81}, {102, 24}, {101, 70}, {101, 28}, {102, 35}});
  auto pay = declared();
  auto const done = pay.aggregate();
  EXPECT_EQ(done.rows, 5);
  EXPECT_EQ(done.parents, 2);
  EXPECT_THAT(done.refused, IsEmpty());
  EXPECT_TRUE(done.complete);
  EXPECT_THAT(pays(), ElementsAre("101: 3 rows, 179, money 537, status 1",
                                  "102: 2 rows, 59, money 177, status 1"));
  EXPECT_EQ(database_.query("select boss_id from t_move_pay where worker_id = 101"), "3");
  EXPECT_EQ(bricks("status = 2 and pay_no like 'P%'"), "5");
  EXPECT_THAT(wrong(pay), IsEmpty());
  EXPECT_EQ(pay.aggregate().rows, 0);
  EXPECT_EQ(pay_of(101).size(), 27U);
  EXPECT_EQ(pay.parent_of("1"), pay_of(101));
  auto const rows = pay.rows(pay_of(102));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].key, "2");
  EXPECT_EQ(rows[1].amounts.at(0), "35");
}

TEST_P(gathered, more_rows_go_into_the_parent_that_is_open) {
  auto options = aggregating::options();
  options.chunk = 2;
  auto pay = declared(options);
  move({{101, 1}, {101, 2}, {101, 3}, {102, 4}, {101, 5}});
  auto const first = pay.aggregate();
  EXPECT_EQ(first.chunks, 3);
  EXPECT_EQ(first.parents, 2);
  move({{101, 6}, {103, 7}});
  EXPECT_EQ(pay.aggregate().parents, 1);
  EXPECT_THAT(pays(), ElementsAre("101: 5 rows, 17, money 51, status 1",
                                  "102: 1 rows, 4, money 12, status 1",
                                  "103: 1 rows, 7, money 21, status 1"));
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered, a_closed_parent_takes_no_more_and_another_is_made) {
  auto pay = declared();
  move({{101, 1}});
  pay.aggregate();
  auto const first = pay_of(101);
  EXPECT_EQ(pay.close(first, alice), settling::done);
  EXPECT_EQ(pay.close(first, alice), settling::before);
  move({{101, 2}});
  EXPECT_EQ(pay.aggregate().parents, 1);
  EXPECT_THAT(pays(), ElementsAre("101: 1 rows, 2, money 6, status 1",
                                  "101: 1 rows, 1, money 3, status 2"));
  EXPECT_EQ(pay.close("PX", alice), settling::none);
}

TEST_P(gathered, a_parent_is_settled_with_its_rows) {
  auto pay = declared();
  move({{101, 1}, {101, 2}, {102, 3}});
  pay.aggregate();
  auto const key = pay_of(101);
  EXPECT_EQ(pay.settle(key, alice), settling::open);
  pay.close(key, alice);
  EXPECT_EQ(pay.settle(key, alice), settling::done);
  EXPECT_EQ(pay.settle(key, alice), settling::before);
  EXPECT_EQ(pay.revert(key, alice), settling::settled);
  EXPECT_EQ(bricks("status = 3"), "2");
  EXPECT_THAT(pays(), ElementsAre("101: 2 rows, 3, money 9, status 3",
                                  "102: 1 rows, 3, money 9, status 1"));
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered, a_parent_is_reverted_once_and_its_rows_are_gathered_anew) {
  auto pay = declared();
  move({{101, 1}, {101, 2}, {102, 3}});
  pay.aggregate();
  auto const key = pay_of(101);
  EXPECT_EQ(pay.revert(key, alice), settling::done);
  EXPECT_EQ(pay.revert(key, alice), settling::before);
  EXPECT_EQ(bricks("status = 1 and pay_no = ''"), "2");
  EXPECT_THAT(wrong(pay), IsEmpty());
  auto const events = pay.history(key);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].detail, "move_count 2, move_sum 3");
  EXPECT_EQ(events[0].actor, "alice");
  EXPECT_EQ(pay.aggregate().rows, 2);
  EXPECT_THAT(pays(),
              ElementsAre("101: 2 rows, 3, money 9, status 1", "101: 0 rows, 0, money 0, status 4",
                          "102: 1 rows, 3, money 9, status 1"));
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered, one_row_is_removed_from_an_open_parent) {
  auto pay = declared();
  move({{101, 1}, {101, 2}, {101, 4}});
  pay.aggregate();
  EXPECT_EQ(pay.remove("2", alice), settling::done);
  EXPECT_EQ(pay.remove("2", alice), settling::before);
  EXPECT_EQ(pay.remove("77", alice), settling::none);
  EXPECT_THAT(pays(), ElementsAre("101: 2 rows, 5, money 15, status 1"));
  EXPECT_EQ(pay.parent_of("2"), std::nullopt);
  pay.close(pay_of(101), alice);
  EXPECT_EQ(pay.remove("3", alice), settling::closed);
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered, a_preview_writes_nothing) {
  auto pay = declared();
  move({{101, 1}, {102, 2}});
  pay.aggregate();
  move({{102, 40}, {103, -3}, {102, 2}});
  auto const groups = pay.preview();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].group, "102");
  EXPECT_EQ(groups[0].rows, 2);
  EXPECT_THAT(groups[0].sums, ElementsAre("42"));
  EXPECT_EQ(groups[0].parent, pay_of(102));
  EXPECT_EQ(groups[1].refused, "move_num is negative");
  EXPECT_EQ(bricks("status = 1"), "3");
}

TEST_P(gathered, a_fresh_parent_is_begun_when_asked_for) {
  auto pay = declared();
  move({{101, 1}, {102, 2}});
  pay.aggregate();
  move({{101, 3}});
  EXPECT_EQ(pay.aggregate({.new_parent = true}).parents, 1);
  EXPECT_THAT(pays(),
              ElementsAre("101: 1 rows, 3, money 9, status 1", "101: 1 rows, 1, money 3, status 2",
                          "102: 1 rows, 2, money 6, status 1"));
  EXPECT_EQ(pay.close_all(alice), 2);
  EXPECT_THAT(pay.parents({.state = std::int64_t{2}}), SizeIs(3));
  EXPECT_THAT(pay.parents({.state = std::int64_t{1}}), IsEmpty());
}

TEST_P(gathered, it_stops_between_chunks_when_asked) {
  auto options = aggregating::options();
  options.chunk = 1;
  auto pay = declared(options);
  move({{101, 1}, {102, 2}, {103, 3}});
  std::stop_source stop;
  auto const done =
      pay.aggregate({.stop = stop.get_token(), .on_progress = [&](auto const& so_far) {
                       if (so_far.rows == 2) stop.request_stop();
                     }});
  EXPECT_FALSE(done.complete);
  EXPECT_EQ(done.rows, 2);
  EXPECT_EQ(pay.aggregate().rows, 1);
}

DAYBOOK_ON_EVERY_ENGINE(gathered);

}  // namespace
}  // namespace conformance
