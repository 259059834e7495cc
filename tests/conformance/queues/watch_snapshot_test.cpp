// Triggers in transactions that see less than what is committed by now, and where a statement does
// not name the column that it changes, or the table.
#include "conformance/watching.hpp"

namespace conformance {
namespace {

using daybook::queue;
using support::raw_connection;

class watched_by_old : public watching {
 protected:
  /// A transaction that has its snapshot. False: on this engine nobody commits beside one that
  /// writes.
  bool begins() {
    if (on_sqlite()) return false;
    user_.execute(on_postgres() ? "begin isolation level repeatable read" : "begin");
    user_.execute("select count(*) from effect");
    return true;
  }
  /// The statement and the COMMIT, or neither, where the engine finds it too late for it.
  bool commits(std::string const& sql) {
    try {
      user_.execute(sql);
      user_.execute("commit");
      return true;
    } catch (std::runtime_error const& e) {
      user_.execute("rollback");
      std::string const why = e.what();
      EXPECT_TRUE(why.find("could not serialize access") != why.npos ||
                  why.find("Record has changed since last read") != why.npos)
          << why;
      return false;
    }
  }
  static void expect_alike(daybook::table_sync const& with) {
    auto const drift = with.compare();
    EXPECT_EQ(drift.missing, 0);
    EXPECT_EQ(drift.extra, 0);
  }
  /// Each statement is of another value of what the column is made of.
  void expect_followed(std::string const& table, std::string const& kind) {
    SCOPED_TRACE(table);
    database_.execute("create table " + table + "(base varchar(40), code varchar(40) " +
                      "generated always as (lower(base)) " + kind + " not null unique)");
    auto of_table = book_.make_queue(table);
    auto with = of_table.follow({.table = table, .key = "code"});
    with.install();
    database_.execute("insert into " + table + "(base) values ('A'), ('B')");
    EXPECT_EQ(members(), (set{"a", "b"}));
    database_.execute("update " + table + " set base = 'C' where base = 'A'");
    EXPECT_EQ(members(), (set{"b", "c"}));
    database_.execute("update " + table + " set base = 'c' where base = 'C'");
    EXPECT_EQ(members(), (set{"b", "c"}));
    expect_alike(with);
    database_.execute("delete from " + table);
    EXPECT_EQ(members(), set{});
    expect_covered();
  }

  raw_connection user_{direct_url()};
};

TEST_P(watched_by_old, a_row_comes_again_whose_member_the_snapshot_still_sees) {
  auto stock = book_.make_queue("stock");
  auto products = stock.follow({.table = "product", .key = "code"});
  products.install();
  database_.execute(adding("a"));
  if (!begins()) return;
  database_.execute("delete from product where code = 'a'");
  EXPECT_TRUE(commits(adding("a,b")) || GetParam().name == "mariadb_snapshot");
  expect_alike(products);
  expect_covered();
}

TEST_P(watched_by_old, a_queue_made_after_the_transaction_began_covers_its_keys) {
  if (!begins()) return;
  auto late = book_.make_queue("late", {.period = 240h, .segment = 100});
  auto products = late.follow({.table = "product", .key = "code"});
  products.install();
  user_.execute(adding("a,b"));
  EXPECT_TRUE(commits("update product set code = 'c' where code = 'a'"));
  EXPECT_EQ(members(), (set{"b", "c"}));
  expect_alike(products);
  expect_covered();
  EXPECT_EQ(drain(late), 2);
  clock_.advance(256h);
  EXPECT_EQ(drain(late), 2) << "again every period";
}

// Written into the triggers, and used while the queue is not seen.
TEST_P(watched_by_old, options_of_the_time_of_the_install_do_not_last) {
  if (!begins()) return;
  auto late = book_.make_queue("late", {.period = 240h});
  late.follow({.table = "product", .key = "code"}).install();
  late = book_.make_queue("late", {.period = 24h});
  EXPECT_TRUE(commits(adding("a")));
  EXPECT_EQ(drain(late), 1);
  clock_.advance(40h);  // its first turn is on the old grain, up to 15 hours from then
  EXPECT_EQ(drain(late), 1) << "by the period that the queue has now";
  database_.execute(adding("b"));
  EXPECT_EQ(database_.query("select max(period_us) from daybook_segment"), "86400000000")
      << "nor are they used where it is seen";
}

TEST_P(watched_by_old, a_row_goes_that_came_again_after_the_snapshot) {
  auto stock = book_.make_queue("stock");
  auto products = stock.follow({.table = "product", .key = "code"});
  products.install();
  for (std::string const last :
       {"delete from product where code = 'a'", "update product set code = 'z' where code = 'a'"}) {
    SCOPED_TRACE(last);
    database_.execute(adding("a,b"));
    if (!begins()) return;
    database_.execute("delete from product where code = 'a'");
    database_.execute(adding("a"));
    EXPECT_EQ(commits(last), GetParam().name == "mariadb" || on_mysql())
        << "the others find it too late";
    expect_alike(products);
    expect_covered();
    database_.execute("delete from product");
    EXPECT_EQ(members(), set{});
  }
}

TEST_P(watched_by_old, a_member_that_the_snapshot_does_not_see_is_kept_or_it_is_too_late) {
  auto stock = book_.make_queue("stock");
  auto products = stock.follow({.table = "product", .key = "code"});
  products.install();
  if (!begins()) return;
  stock.add(key("a"), {.payload = "mine"});
  EXPECT_EQ(commits(adding("a")), on_mariadb());
  EXPECT_EQ(stock.find(key("a")).value().payload, "mine");
  EXPECT_EQ(stock.counts().segments, 1) << "and no task of nobody's";
  expect_covered();
}

TEST_P(watched_by_old, a_partition_that_is_named_is_reconciled) {
  if (!on_postgres()) return;  // MariaDB's triggers are of the rows, SQLite has no partitions
  database_.execute(
      "create table part(code varchar(40) not null primary key) partition by list (code);"
      "create table part_a partition of part for values in ('a', 'b');"
      "create table part_x(code varchar(40) not null primary key);"
      "insert into part_x values ('x')");
  auto parts = book_.make_queue("parts");
  auto with = parts.follow({.table = "part", .key = "code"});
  with.install();
  database_.execute("insert into part values ('a')");
  EXPECT_EQ(members(), set{"a"});
  database_.execute("insert into part_a values ('b')");
  database_.execute("delete from part_a where code = 'a'");
  database_.execute("alter table part attach partition part_x for values in ('x')");
  EXPECT_EQ(members(), set{"a"});
  with.reconcile();
  EXPECT_EQ(members(), (set{"b", "x"}));
  database_.execute("alter table part detach partition part_x");
  EXPECT_EQ(with.reconcile().removed, 1);
}

TEST_P(watched_by_old, a_key_that_the_engine_makes_is_followed) {
  if (on_mariadb()) return;  // it has none that are not null
  expect_followed("kept", "stored");
  if (on_sqlite()) expect_followed("made", "virtual");
}

TEST_P(watched_by_old, a_row_number_is_followed_by_each_of_its_names) {
  if (!on_sqlite()) return;
  database_.execute("create table art(id integer primary key, note text)");
  auto arts = book_.make_queue("arts");
  auto with = arts.follow({.table = "art", .key = "id"});
  with.install();
  database_.execute("insert into art values (1, 'x'), (2, 'y')");
  for (std::string const name : {"rowid", "_rowid_", "oid", "id"}) {
    database_.execute("update art set " + name + " = 7 where note = 'x'");
    EXPECT_EQ(members(), (set{"2", "7"})) << name;
    database_.execute("update art set note = 'x', " + name + " = 1 where note = 'x'");
    EXPECT_EQ(members(), (set{"1", "2"})) << name;
  }
  auto const id = arts.find(key("1")).value().id;
  database_.execute("update art set note = 'x'");
  EXPECT_EQ(arts.find(key("1")).value().id, id);
  expect_alike(with);
  expect_covered();
}

DAYBOOK_ON_EVERY_ENGINE(watched_by_old);

}  // namespace
}  // namespace conformance
