// A queue follows a table whose names would be something else in SQL.
#include "conformance/watching.hpp"

namespace conformance {
namespace {

class watched_names : public watching {};

TEST_P(watched_names, odd_names_are_names) {
  std::string const q = on_mariadb() ? "`" : "\"";
  auto const table = q + "or der's; --" + q;
  auto const column = q + "select" + q;
  database_.execute("create table " + table + " (" + column + " bigint not null, unique (" +
                    column + "))" + innodb());
  auto orders = book_.make_queue("orders");
  auto watch = orders.follow({.table = "or der's; --", .key = "select"});
  watch.install();
  database_.execute("insert into " + table + " values (1800000000000000001), (-3)");
  EXPECT_EQ(members(), (set{"1800000000000000001", "-3"}));
  database_.execute("delete from " + table + " where " + column + " < 0");
  EXPECT_EQ(members(), set{"1800000000000000001"});
  EXPECT_EQ(watch.reconcile().removed, 0);
  watch.uninstall();
  database_.execute("insert into " + table + " values (5)");
  EXPECT_EQ(watch.reconcile().added, 1);
}

// Nor what ends a text of the engine's, or stands for something in one of ours.
TEST_P(watched_names, a_name_is_never_taken_for_sql) {
  std::string const q = on_mariadb() ? "`" : "\"";
  int number = 0;
  for (std::string const name :
       {"a$daybook$b", "$$", "$body$ end", ":queue {now} ? $1", "{{id}} */ --", "a''b\\"}) {
    SCOPED_TRACE(name);
    auto const table = "odd" + std::to_string(++number);
    auto const column = q + name + q;
    database_.execute("create table " + table + " (" + column + " bigint not null primary key)" +
                      innodb());
    auto odd = book_.make_queue(table);
    auto watch = odd.follow({.table = table, .key = name});
    watch.install();
    EXPECT_TRUE(watch.info().installed);
    database_.execute("insert into " + table + " values (1), (2)");
    database_.execute("update " + table + " set " + column + " = 3 where " + column + " = 2");
    database_.execute("delete from " + table + " where " + column + " = 1");
    EXPECT_EQ(members(), set{"3"});
    EXPECT_EQ(watch.reconcile().added, 0);
    watch.uninstall();
    odd.remove(key("3"));
    EXPECT_EQ(watch.reconcile().added, 1);
    odd.remove(key("3"));
  }
}

DAYBOOK_ON_EVERY_ENGINE(watched_names);

}  // namespace
}  // namespace conformance
