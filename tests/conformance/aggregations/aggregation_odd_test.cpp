// Aggregations over tables that are odd in what their engine allows: numbers that are none, texts
// that it takes for one, partitions, triggers.
#include "conformance/aggregating.hpp"

namespace conformance {
namespace {

class gathered_oddly : public aggregating {
 protected:
  /// A trigger after rows of a worker were given a state, that gives them another.
  void meddle(int worker, int state, int instead) {
    auto const to = std::to_string(instead);
    auto const when =
        "new.worker_id = " + std::to_string(worker) + " and new.status = " + std::to_string(state);
    if (on_sqlite()) {
      database_.execute("create trigger meddles after update on t_move_brick when " + when +
                        " begin update t_move_brick set status = " + to +
                        " where id = new.id; end");
    } else if (on_mariadb()) {
      database_.execute(
          "create trigger meddles before update on t_move_brick for each row "
          "set new.status = if(" +
          when + ", " + to + ", new.status)");
    } else {
      database_.execute(
          "create function meddles() returns trigger language plpgsql as $$ begin if " + when +
          " then new.status := " + to + "; end if; return new; end $$");
      database_.execute(
          "create trigger meddles before update on t_move_brick for each row execute function "
          "meddles()");
    }
  }
};

TEST_P(gathered_oddly, amounts_that_are_no_integers_are_refused) {
  if (!on_sqlite()) return;  // the others let none in
  auto pay = declared();
  move({{101, 5}, {102, 6}, {103, 7}, {104, 8}, {105, 9}, {105, 1}});
  database_.execute("update t_move_brick set move_num = 1.5 where id = 1");
  database_.execute("update t_move_brick set move_num = 'two' where id = 2");
  database_.execute("update t_move_brick set move_num = x'03' where id = 3");
  database_.execute("update t_move_brick set move_num = 4.0 where id = 4");  // kept as 4
  database_.execute("update t_move_brick set move_num = 9e18 * 4 where id = 5");
  auto const done = pay.aggregate();
  EXPECT_EQ(done.rows, 1);
  EXPECT_THAT(refused(done),
              ElementsAre("101: move_num is no integer", "102: move_num is no integer",
                          "103: move_num is no integer", "105: move_num is no integer"));
  EXPECT_THAT(pays(), ElementsAre("104: 1 rows, 4, money 12, status 1"));
  EXPECT_THAT(wrong(pay), IsEmpty());
  database_.execute("update t_move_pay set move_sum = 4.5 where worker_id = 104");
  move({{104, 1}});
  EXPECT_THAT(refused(pay.aggregate()),
              testing::Contains("104: move_sum of its parent " + pay_of(104) + " is no integer"));
  EXPECT_THAT(wrong(pay), ElementsAre("sum move_sum: 4.500000, expected 4"));
}

TEST_P(gathered_oddly, texts_that_differ_a_little_are_groups_of_their_own) {
  for (auto const* table : {"t_move_brick", "t_move_pay"}) {
    database_.execute("alter table " + std::string(table) + " add column site varchar(20)");
  }
  auto options = aggregating::options();
  options.source.group = {"site"};
  options.parent.opening.clear();
  auto pay = declared(options);
  std::vector<std::string> const sites{"North", "north", "north ", "n\u00f6rth", "NORTH"};
  auto const one_each = [&] {
    for (std::size_t i = 0; i < sites.size(); ++i) {
      auto const bricks = 1 << i;
      move({{101, bricks}});
      database_.execute("update t_move_brick set site = '" + sites[i] +
                        "' where status = 1 and site is null");
    }
  };
  one_each();
  auto const done = pay.aggregate();
  EXPECT_EQ(done.parents, 5);
  one_each();
  EXPECT_EQ(pay.aggregate().parents, 0);
  EXPECT_THAT(pay.parents(), SizeIs(5));
  for (auto const& one : pay.parents()) {
    auto const at = std::find(sites.begin(), sites.end(), one.group) - sites.begin();
    ASSERT_LT(at, 5) << one.group;
    EXPECT_THAT(one.sums, ElementsAre(std::to_string(2 << at))) << one.group;
  }
  EXPECT_THAT(wrong(pay), IsEmpty());
  auto const first = pay.parents().front().key;
  auto const second = pay.parents().back().key;
  pay.close_all(alice);
  EXPECT_EQ(pay.settle(first, alice), settling::done);
  EXPECT_EQ(pay.revert(second, alice), settling::done);
  EXPECT_EQ(bricks("status = 3"), "2");
  EXPECT_EQ(bricks("status = 1"), "2");
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered_oddly, a_table_in_partitions_is_as_any_other) {
  if (on_sqlite()) return;  // it has none
  database_.execute("drop table t_move_brick");
  std::string const columns =
      ", move_no varchar(32) not null default '', pay_no varchar(32) not null default '', "
      "worker_id bigint not null default 0, move_num int not null default 0, "
      "status smallint not null default 0, primary key (id)";
  if (on_mariadb()) {
    database_.execute("create table t_move_brick (id bigint not null auto_increment" + columns +
                      ", key (pay_no)) engine = InnoDB partition by range (id) (partition a values "
                      "less than (4), partition b values less than (8), partition c values less "
                      "than maxvalue)");
  } else {
    database_.execute("create sequence moved");
    database_.execute("create table t_move_brick (id bigint not null default nextval('moved')" +
                      columns + ") partition by range (id)");
    database_.execute("create table a partition of t_move_brick for values from (0) to (4)");
    database_.execute("create table b partition of t_move_brick for values from (4) to (8)");
    database_.execute("create table c partition of t_move_brick default");
    database_.execute("create index on t_move_brick (pay_no)");
  }
  auto options = aggregating::options();
  options.chunk = 3;
  auto pay = declared(options);
  EXPECT_THAT(pay.advice(), IsEmpty());
  move({{101, 1}, {102, 2}, {101, 3}, {102, 4}, {101, 5}, {102, 6}, {103, 7}, {101, 8}, {102, 9}});
  EXPECT_EQ(pay.aggregate().rows, 9);
  EXPECT_THAT(pays(), ElementsAre("101: 4 rows, 17, money 51, status 1",
                                  "102: 4 rows, 21, money 63, status 1",
                                  "103: 1 rows, 7, money 21, status 1"));
  EXPECT_THAT(wrong(pay), IsEmpty());
  auto const key = pay_of(101);
  EXPECT_EQ(pay.remove("5", alice), settling::done);
  EXPECT_EQ(pay.close(key, alice), settling::done);
  EXPECT_EQ(pay.settle(key, alice), settling::done);
  EXPECT_EQ(pay.revert(pay_of(102), alice), settling::done);
  EXPECT_EQ(bricks("status = 3"), "3");
  EXPECT_EQ(pay.aggregate().rows, 5);
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered_oddly, a_trigger_that_keeps_rows_from_being_settled_is_found) {
  meddle(102, 3, 2);
  auto pay = declared();
  move({{101, 1}, {102, 2}, {102, 3}});
  pay.aggregate();
  pay.close_all(alice);
  EXPECT_EQ(pay.settle(pay_of(101, 2), alice), settling::done);
  EXPECT_EQ(pay.settle(pay_of(102, 2), alice), settling::differs);
  EXPECT_EQ(bricks("status = 3"), "1");
  EXPECT_EQ(bricks("status = 2"), "2");
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered_oddly, beside_a_trigger_an_index_on_the_group_does_not_serve) {
  database_.execute(on_mariadb() ? "drop index idx_pay_move on t_move_brick"
                                 : "drop index idx_pay_move");
  database_.execute("create index by_worker on t_move_brick (worker_id)");
  EXPECT_THAT(declared().advice(), IsEmpty());
  meddle(102, 3, 2);
  EXPECT_THAT(declared().advice(), ElementsAre(HasSubstr("pay_no")));
}

DAYBOOK_ON_EVERY_ENGINE(gathered_oddly);

}  // namespace
}  // namespace conformance
