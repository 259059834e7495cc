// What is wrong with rows and parents: groups that cannot be taken do not stop the others, and
// verify() names what somebody has changed by hand.
#include "conformance/aggregating.hpp"

namespace conformance {
namespace {

using testing::UnorderedElementsAreArray;

class gathered_badly : public aggregating {
 protected:
  /// What preview() says of what aggregate() would refuse.
  static std::vector<std::string> foreseen(daybook::aggregation const& of) {
    std::vector<std::string> out;
    for (auto const& one : of.preview()) {
      if (!one.refused.empty()) out.push_back(one.group + ": " + one.refused);
    }
    return out;
  }
  /// The same tables, where columns may hold anything that their engine lets in.
  void loosen(std::string const& column, std::string const& type, std::string const& table) {
    if (on_sqlite()) {
      auto const sql = database_.query("select replace(sql, '" + column +
                                       " int not null default 0', '" + column + " " + type +
                                       "') from sqlite_schema where name = '" + table + "'");
      database_.execute("drop table " + table);
      database_.execute(sql);
    } else if (on_mariadb()) {
      database_.execute("alter table " + table + " modify " + column + " " + type);
    } else {
      database_.execute("alter table " + table + " alter column " + column + " drop not null");
      if (type != "int") {
        database_.execute("alter table " + table + " alter column " + column + " type " + type);
      }
    }
  }
};

TEST_P(gathered_badly, null_and_negative_amounts_are_refused_by_group) {
  loosen("move_num", "int", "t_move_brick");
  auto pay = declared();
  move({{101, 5}, {102, -1}, {103, 7}, {102, 9}, {104, 1}});
  database_.execute("update t_move_brick set move_num = null where worker_id = 103");
  auto const done = pay.aggregate();
  EXPECT_EQ(done.rows, 2);
  EXPECT_THAT(refused(done), ElementsAre("102: move_num is negative", "103: move_num is null"));
  EXPECT_EQ(done.refused[0].row, "2");
  EXPECT_THAT(pays(), ElementsAre("101: 1 rows, 5, money 15, status 1",
                                  "104: 1 rows, 1, money 3, status 1"));
  auto options = aggregating::options();
  options.allow_null = true;
  options.allow_negative = true;
  EXPECT_THAT(refused(declared(options).aggregate()), IsEmpty());
  EXPECT_THAT(
      pays(),
      ElementsAre("101: 1 rows, 5, money 15, status 1", "102: 2 rows, 8, money 24, status 1",
                  "103: 1 rows, 0, money 0, status 1", "104: 1 rows, 1, money 3, status 1"));
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered_badly, a_sum_that_its_column_cannot_hold_is_refused) {
  auto pay = declared();
  if (on_sqlite()) {
    loosen("move_num", "bigint", "t_move_brick");
    move({{101, 0}, {102, 2}});
    database_.execute("update t_move_brick set move_num = 9223372036854775807 where id = 1");
    auto options = aggregating::options();
    options.parent.following.clear();
    pay = declared(options);
    pay.aggregate();
    move({{101, 1}, {102, 4}});
    EXPECT_THAT(foreseen(pay), ElementsAre("101: move_sum would be more than 9223372036854775807"));
    EXPECT_THAT(refused(pay.aggregate()), UnorderedElementsAreArray(foreseen(pay)));
    EXPECT_EQ(database_.query("select move_sum from t_move_pay where worker_id = 101"),
              "9223372036854775807");
    EXPECT_EQ(database_.query("select move_sum from t_move_pay where worker_id = 102"), "6");
    EXPECT_THAT(wrong(pay), IsEmpty());
    return;
  }
  move({{101, 2147483647}, {102, 2}});
  auto options = aggregating::options();
  options.parent.following.clear();
  pay = declared(options);
  pay.aggregate();
  move({{101, 1}, {102, 4}, {103, 2147483647}, {103, 1}});
  EXPECT_THAT(foreseen(pay), ElementsAre("101: move_sum would be more than 2147483647",
                                         "103: move_sum would be more than 2147483647"));
  EXPECT_THAT(refused(pay.aggregate()), UnorderedElementsAreArray(foreseen(pay)));
  EXPECT_THAT(pays(), ElementsAre("101: 1 rows, 2147483647, money 0, status 1",
                                  "102: 2 rows, 6, money 0, status 1"));
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered_badly, sums_beyond_64_bits_are_refused_and_those_at_the_edge_exact) {
  loosen("move_num", "bigint", "t_move_brick");
  loosen("move_sum", "bigint", "t_move_pay");
  auto options = aggregating::options();
  options.parent.following.clear();
  options.allow_negative = true;
  auto pay = declared(options);
  move({{101, 0}, {101, 1}, {102, 0}, {103, 0}, {103, -1}, {104, 3}});
  database_.execute("update t_move_brick set move_num = 9223372036854775807 where id in (1, 3)");
  database_.execute("update t_move_brick set move_num = -9223372036854775807 - 1 where id = 4");
  auto const before = foreseen(pay);
  auto const done = pay.aggregate();
  EXPECT_EQ(done.rows, 2);
  EXPECT_THAT(refused(done), UnorderedElementsAreArray(before));
  EXPECT_THAT(
      refused(done),
      ElementsAre("101: move_sum would be 9223372036854775808, which no integer of 64 bits is",
                  "103: move_sum would be -9223372036854775809, which no integer of 64 bits is"));
  EXPECT_EQ(database_.query("select move_sum from t_move_pay where worker_id = 102"),
            "9223372036854775807");
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered_badly, what_follows_from_a_sum_may_be_too_much_for_one_group_only) {
  auto options = aggregating::options();
  options.parent.following = {{"money", "move_sum * 9223372036854775"}};
  auto pay = declared(options);
  move({{101, 0}, {102, 2000}, {103, 0}, {104, 2000}, {105, 0}});
  auto const done = pay.aggregate();
  EXPECT_EQ(done.rows, 3);
  ASSERT_THAT(done.refused, SizeIs(2));
  EXPECT_EQ(done.refused[0].group, "102");
  EXPECT_EQ(done.refused[1].group, "104");
  EXPECT_THAT(wrong(pay), IsEmpty());
  EXPECT_EQ(bricks("status = 1 and pay_no = ''"), "2");
}

TEST_P(gathered_badly, what_is_unusual_is_found_after_chunks_that_were_as_usual) {
  auto options = aggregating::options();
  options.chunk = 2;
  auto pay = declared(options);
  // Chunks that make parents, add to them, have a new group, a bad row, and good ones again.
  move({{101, 1},
        {102, 1},
        {101, 1},
        {102, 1},
        {101, 1},
        {102, 1},
        {101, 1},
        {103, 5},
        {101, 1},
        {102, 1},
        {101, 1},
        {102, 1},
        {101, 1},
        {102, -1},
        {101, 1},
        {102, 1}});
  auto const done = pay.aggregate();
  EXPECT_EQ(done.rows, 14);
  EXPECT_EQ(done.parents, 3);
  EXPECT_THAT(refused(done), ElementsAre("102: move_num is negative"));
  EXPECT_THAT(pays(), ElementsAre("101: 8 rows, 8, money 24, status 1",
                                  "102: 5 rows, 5, money 15, status 1",
                                  "103: 1 rows, 5, money 15, status 1"));
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered_badly, a_group_that_is_null_is_refused) {
  if (on_sqlite()) {
    database_.execute("alter table t_move_brick add column site varchar(20)");
  } else {
    database_.execute("alter table t_move_brick add site varchar(20)");
  }
  auto options = aggregating::options();
  options.source.group = {"worker_id", "site"};
  auto pay = declared(options);
  move({{101, 1}, {101, 2}, {102, 4}});
  database_.execute("update t_move_brick set site = 'north' where id = 1");
  auto const done = pay.aggregate();
  EXPECT_EQ(done.rows, 1);
  EXPECT_THAT(refused(done), ElementsAre("null: a column of its group is null"));
  database_.execute("update t_move_brick set site = 'a\nb' where id = 2");
  EXPECT_THAT(refused(pay.aggregate()),
              testing::Contains(HasSubstr("its group holds control characters")));
}

TEST_P(gathered_badly, a_parent_that_was_closed_by_hand_is_named_and_makes_way) {
  auto pay = declared();
  move({{101, 1}, {102, 2}});
  pay.aggregate();
  auto const key = pay_of(101);
  database_.execute("update t_move_pay set status = 2 where worker_id = 101");
  move({{101, 3}, {102, 4}});
  auto const before = foreseen(pay);
  auto const done = pay.aggregate();
  EXPECT_EQ(done.rows, 1);
  EXPECT_THAT(refused(done), UnorderedElementsAreArray(before));
  EXPECT_THAT(refused(done),
              ElementsAre("101: its parent " + key +
                          " is not open: status is 2; close() makes way for another"));
  EXPECT_EQ(pay.close(key, alice), settling::done);
  EXPECT_EQ(pay.aggregate().rows, 1);
  EXPECT_THAT(pays(),
              ElementsAre("101: 1 rows, 3, money 9, status 1", "101: 1 rows, 1, money 3, status 2",
                          "102: 2 rows, 6, money 18, status 1"));
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered_badly, a_parent_that_is_not_what_its_rows_are_is_not_settled) {
  auto pay = declared();
  move({{101, 1}, {101, 2}, {102, 3}});
  pay.aggregate();
  pay.close_all(alice);
  auto const key = pay_of(101, 2);
  for (auto const* change :
       {"update t_move_brick set move_num = 7 where id = 1",
        "update t_move_brick set status = 3 where id = 1", "delete from t_move_brick where id = 1",
        "update t_move_pay set move_sum = 4 where worker_id = 101",
        "update t_move_pay set move_count = 1 where worker_id = 101"}) {
    SCOPED_TRACE(change);
    database_.execute(change);
    EXPECT_EQ(pay.settle(key, alice), settling::differs);
    EXPECT_EQ(bricks("status = 3 and pay_no = '" + key + "' and id <> 1"), "0");
    EXPECT_FALSE(wrong(pay).empty());
  }
}

TEST_P(gathered_badly, each_difference_is_named) {
  auto pay = declared();
  move({{101, 1}, {101, 2}, {102, 3}, {103, 4}, {104, 5}, {105, 6}});
  pay.aggregate();
  auto const change = [&](std::string const& sql) { database_.execute(sql); };
  change("update t_move_pay set move_sum = 30 where worker_id = 101");
  EXPECT_THAT(wrong(pay), ElementsAre("sum move_sum: 30, expected 3"));
  change("update t_move_pay set move_sum = 3, move_count = 3 where worker_id = 101");
  EXPECT_THAT(wrong(pay), ElementsAre("count move_count: 3, expected 2"));
  change("update t_move_pay set move_count = 2 where worker_id = 101");
  change("update t_move_brick set status = 3 where id = 3");
  EXPECT_THAT(wrong(pay), ElementsAre("state status: 0 of 1 rows, expected 2"));
  change("update t_move_brick set status = 9 where id = 3");
  EXPECT_THAT(wrong(pay), testing::UnorderedElementsAre("count move_count: 1, expected 0",
                                                        "sum move_sum: 3, expected 0",
                                                        "unknown_state status: 9, expected "));
  change("update t_move_brick set status = 2, worker_id = 101 where id = 3");
  EXPECT_THAT(wrong(pay), ElementsAre("group : 101, expected 102"));
  change("update t_move_brick set worker_id = 102 where id = 3");
  change("update t_move_brick set pay_no = '' where id = 4");
  EXPECT_THAT(wrong(pay), testing::Contains("unlinked pay_no: , expected a parent"));
  change("update t_move_brick set status = 1 where id = 4");
  pay.aggregate();
  change("update t_move_pay set move_count = 1, move_sum = 4 where worker_id = 103");
  EXPECT_THAT(wrong(pay), IsEmpty());
  auto const lost = pay_of(104);
  auto const named = "gone pay_no: not there, expected " + lost;
  change("delete from t_move_pay where worker_id = 104");
  EXPECT_THAT(wrong(pay), ElementsAre(named, "orphan pay_no: , expected "));
  EXPECT_EQ(pay.close(lost, alice), settling::done);
  EXPECT_THAT(wrong(pay), ElementsAre(named, "orphan pay_no: , expected "));
  change("update t_move_brick set pay_no = '', status = 7 where id = 5");
  EXPECT_THAT(wrong(pay), testing::Contains("unknown_state status: 7, expected "));
  change("update t_move_pay set status = 8 where worker_id = 105");
  EXPECT_THAT(wrong(pay), testing::Contains("unknown_state status: 8, expected "));
  EXPECT_FALSE(pay.verify(1).complete);
  EXPECT_THAT(pay.verify(1).differences, SizeIs(1));
}

TEST_P(gathered_badly, a_parent_that_another_has_opened_is_named) {
  auto pay = declared();
  move({{101, 1}});
  pay.aggregate();
  database_.execute("insert into t_move_pay (pay_no, worker_id, status) values ('mine', 101, 1)");
  EXPECT_THAT(wrong(pay), ElementsAre("two_open status: 1, expected not 1"));
}

TEST_P(gathered_badly, a_trigger_that_changes_what_is_taken_is_found) {
  if (on_sqlite()) {
    database_.execute(
        "create trigger meddles after update on t_move_brick when new.worker_id = 102 and "
        "new.status = 2 begin update t_move_brick set status = 1 where id = new.id; end");
  } else if (on_mariadb()) {
    database_.execute(
        "create trigger meddles before update on t_move_brick for each row "
        "set new.status = if(new.worker_id = 102 and new.status = 2, 1, new.status)");
  } else {
    database_.execute(
        "create function meddles() returns trigger language plpgsql as $$ begin "
        "if new.worker_id = 102 and new.status = 2 then new.status := 1; end if; return new; end "
        "$$");
    database_.execute(
        "create trigger meddles before update on t_move_brick for each row execute function "
        "meddles()");
  }
  auto pay = declared();
  move({{101, 1}, {102, 2}, {103, 3}});
  auto const done = pay.aggregate();
  EXPECT_EQ(done.rows, 2);
  EXPECT_THAT(refused(done),
              ElementsAre("102: a trigger of 't_move_brick' changes rows as they are taken"));
  EXPECT_THAT(pays(), SizeIs(2));
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered_badly, a_row_that_a_trigger_keeps_from_being_taken_is_not_counted) {
  if (on_mariadb()) return;  // its triggers change a row or fail
  if (on_sqlite()) {
    database_.execute(
        "create trigger keeps before update on t_move_brick when new.worker_id = 102 "
        "begin select raise(ignore); end");
  } else {
    database_.execute(
        "create function keeps() returns trigger language plpgsql as $$ begin "
        "if new.worker_id = 102 then return null; end if; return new; end $$");
    database_.execute(
        "create trigger keeps before update on t_move_brick for each row execute function keeps()");
  }
  auto pay = declared();
  move({{101, 1}, {102, 2}, {103, 3}});
  EXPECT_EQ(pay.aggregate().rows, 2);
  EXPECT_EQ(database_.query("select sum(move_sum) from t_move_pay"), "4");
  EXPECT_EQ(bricks("status = 1 and worker_id = 102"), "1");
  EXPECT_THAT(wrong(pay), IsEmpty());
}

DAYBOOK_ON_EVERY_ENGINE(gathered_badly);

}  // namespace
}  // namespace conformance
