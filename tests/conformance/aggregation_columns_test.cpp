// Aggregations over columns of many kinds: groups of several, texts compared in other ways than is
// usual, texts with blanks at their end, keys that are none.
#include "aggregating.hpp"

#include "tables/table.hpp"
#include "work/engine.hpp"

namespace conformance {
namespace {

using testing::UnorderedElementsAre;

class gathered_by_columns : public aggregating {
 protected:
  [[nodiscard]] std::string literal(std::string const& text) const {
    return daybook::tables::literal(book_.internals().ready().dialect, text);
  }
  /// A move of a worker at a site.
  void move_at(int worker, std::string const& site, int bricks) {
    move({{worker, bricks}});
    database_.execute("update t_move_brick set site = " + literal(site) +
                      " where status = 1 and site is null");
  }
  void drop_link_index() {
    database_.execute(on_mariadb() ? "drop index idx_pay_move on t_move_brick"
                                   : "drop index idx_pay_move");
  }
};

TEST_P(gathered_by_columns, a_bad_row_of_an_open_parent_leaves_other_groups_of_its_chunk_alone) {
  database_.execute("alter table t_move_brick add column site varchar(900)");
  auto options = aggregating::options();
  options.source.group = {"worker_id", "site"};
  auto pay = declared(options);
  std::string const odd = "\"it's\" c:\\n/\u00f6";
  move_at(101, "A", 1);
  move_at(102, "A", 2);
  move_at(103, odd, 4);
  EXPECT_EQ(pay.aggregate().parents, 3);
  move_at(101, "A", 8);
  move_at(102, "A", -1);
  move_at(103, odd, -1);
  move_at(103, "A", 16);
  move_at(104, odd, 32);
  move_at(105, "a\nb", 64);
  std::string const whole(900, 'x');
  move_at(106, whole, 128);
  auto const done = pay.aggregate();
  EXPECT_EQ(done.rows, 3);
  EXPECT_THAT(
      refused(done),
      UnorderedElementsAre("102, A: move_num is negative", "103, " + odd + ": move_num is negative",
                           "105, a\nb: its group holds control characters",
                           "106, " + whole + ": its group has more than 700 bytes"));
  EXPECT_EQ(database_.query("select sum(move_sum) from t_move_pay"), "63");
  EXPECT_THAT(wrong(pay), IsEmpty());
}

DAYBOOK_ON_EVERY_ENGINE(gathered_by_columns);

}  // namespace
}  // namespace conformance
