// Aggregations where nothing stands still: rows that come in, and parents that others close, while
// rows are gathered.
#include "aggregating.hpp"

namespace conformance {
namespace {

class gathered_in_flow : public aggregating {
 protected:
  static aggregation_options small_chunks() {
    auto out = options();
    out.chunk = 2;
    return out;
  }
  /// After each chunk as many rows come in as were taken, for a good while.
  [[nodiscard]] daybook::aggregate_options amid_new_rows() {
    return {.stop = stop_.get_token(), .told = [this](auto const& so_far) {
              move({{101, 100}, {102, 100}});
              if (so_far.chunks == 50) stop_.request_stop();
            }};
  }

 private:
  std::stop_source stop_;
};

TEST_P(gathered_in_flow, it_ends_although_rows_come_in_as_fast_as_it_takes_them) {
  auto pay = declared(small_chunks());
  move({{101, 1}, {102, 1}, {101, 1}, {103, 1}, {101, 1}, {102, 1}});
  auto const done = pay.aggregate(amid_new_rows());
  EXPECT_TRUE(done.complete);
  EXPECT_EQ(done.rows, 6);
  EXPECT_EQ(pay.aggregate().rows, 6);
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered_in_flow, what_was_free_before_the_place_where_it_came_in_is_taken_too) {
  auto pay = declared(small_chunks());
  move({{101, 1}, {102, 1}, {101, 1}, {103, 1}, {104, 1}, {105, 1}});
  std::stop_source stop;
  pay.aggregate({.stop = stop.get_token(), .told = [&](auto const& so_far) {
                   if (so_far.rows == 4) stop.request_stop();
                 }});
  pay.revert(pay_of(101), alice);
  pay.revert(pay_of(102), alice);
  pay.revert(pay_of(103), alice);
  // The fifth and the sixth, then the first to the fourth; others take what comes in.
  auto const done = pay.aggregate(amid_new_rows());
  EXPECT_TRUE(done.complete);
  EXPECT_EQ(done.rows, 6);
  EXPECT_EQ(bricks("status = 1 and move_num = 1"), "0");
  EXPECT_EQ(database_.query("select position from daybook_aggregation"), "6");
  EXPECT_EQ(pay.aggregate().rows, 6);
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered_in_flow, what_was_free_before_it_is_taken_in_the_next_pass_where_none_come_in) {
  auto pay = declared(small_chunks());
  move({{101, 1}, {102, 1}, {103, 1}, {104, 1}});
  std::stop_source stop;
  pay.aggregate({.stop = stop.get_token(), .told = [&](auto const&) { stop.request_stop(); }});
  pay.revert(pay_of(101), alice);
  EXPECT_EQ(pay.aggregate().rows, 3);
  EXPECT_EQ(bricks("status = 1"), "0");
}

DAYBOOK_ON_EVERY_ENGINE(gathered_in_flow);

}  // namespace
}  // namespace conformance
