// A table and the members of a queue are compared, and made the same.
#include "conformance/watching.hpp"

#include <thread>

namespace conformance {
namespace {

using daybook::queue;
using support::raw_connection;

class reconciling : public watching {
 protected:
  reconciling() : stock_(book_.make_queue("stock")) {}

  daybook::table_sync follow(std::string const& table, std::string const& column) {
    return stock_.follow({.table = table, .key = column});
  }
  /// Rows n = from, from + 1, ... with the code 'k' || n.
  void put_products(int from, int count) const {
    auto const n = std::to_string(from);
    auto const last = std::to_string(from + count - 1);
    database_.execute(on_mariadb() ? "insert into product(code) select concat('k', seq) from " +
                                         numbers_table(from, from + count - 1)
                                   : "with recursive n(i) as (select " + n +
                                         " union all select i + 1 from n where i < " + last +
                                         ") insert into product(code) select 'k' || i from n");
  }

  queue stock_;
};

TEST_P(reconciling, both_ways_over_many_pages) {
  put_products(1, 25'000);
  stock_.add(key("k77"), {.payload = "mine"});
  std::vector<daybook::entry> strangers;
  for (int i = 0; i < 12'000; ++i) strangers.push_back({key("x" + std::to_string(i))});
  stock_.import(strangers);
  auto watch = follow("product", "code");
  EXPECT_FALSE(watch.info().reconciled);
  auto const before = watch.compare(100'000);
  EXPECT_EQ(before.missing, 24'999);
  EXPECT_EQ(before.extra, 12'000);
  EXPECT_TRUE(before.exact);
  auto const given_up = watch.compare(50);
  EXPECT_EQ(given_up.missing, 50);
  EXPECT_FALSE(given_up.exact);
  std::vector<std::int64_t> told;
  auto const done = watch.reconcile([&](daybook::reconcile_progress const& now) {
    told.push_back(now.seen);
    return true;
  });
  EXPECT_EQ(done.added, 24'999);
  EXPECT_EQ(done.removed, 12'000);
  EXPECT_EQ(done.refused, 0);
  EXPECT_TRUE(done.complete);
  EXPECT_GE(told.size(), 5U);
  EXPECT_TRUE(watch.info().reconciled);
  EXPECT_EQ(stock_.counts().members, 25'000);
  EXPECT_EQ(stock_.find(key("k77")).value().payload, "mine");
  expect_covered();
  auto const after = watch.compare();
  EXPECT_EQ(after.missing + after.extra, 0);
  auto const again = watch.reconcile();
  EXPECT_EQ(again.added + again.removed, 0);
  EXPECT_EQ(drain(stock_, 5000), 25'000);
}

TEST_P(reconciling, who_is_told_may_end_it) {
  put_products(1, 21'000);
  auto watch = follow("product", "code");
  auto const some = watch.reconcile([](auto const& now) { return now.added < 10'000; });
  EXPECT_FALSE(some.complete);
  EXPECT_EQ(some.added, 10'000);
  EXPECT_FALSE(watch.info().reconciled);
  EXPECT_EQ(watch.reconcile().added, 11'000);
}

TEST_P(reconciling, every_kind_of_key) {
  std::string const uuid = on_sqlite() ? "text" : on_mysql() ? "char(36)" : "uuid";
  database_.execute("create table kinds(n bigint not null unique, u " + uuid +
                    " not null unique, d date not null unique, c char(8) not null unique)" +
                    innodb());
  database_.execute(
      "insert into kinds values (9223372036854775807, '01234567-89ab-4def-8123-456789abcdef', "
      "'2026-02-28', 'a b'), (-9223372036854775807, 'ffffffff-89ab-4def-8123-456789abcdef', "
      "'1999-12-31', 'c'), (5, 'aaaaaaaa-89ab-4def-8123-456789abcdef', '2024-02-29', 'C c')");
  std::map<std::string, set> const wanted{
      {"n", {"9223372036854775807", "-9223372036854775807", "5"}},
      {"u",
       {"01234567-89ab-4def-8123-456789abcdef", "ffffffff-89ab-4def-8123-456789abcdef",
        "aaaaaaaa-89ab-4def-8123-456789abcdef"}},
      {"d", {"2026-02-28", "1999-12-31", "2024-02-29"}},
      {"c", {"a b", "c", "C c"}}};
  for (auto const& [column, keys] : wanted) {
    for (auto const* const wrong : {"no", "007", "-0", "2024-02-30", "99999999999999999999"}) {
      stock_.add(key(wrong));
    }
    auto watch = follow("kinds", column);
    auto const done = watch.reconcile();
    EXPECT_EQ(done.added, 3) << column;
    EXPECT_EQ(members(), keys) << column;
    EXPECT_EQ(watch.reconcile().removed, 0) << column;
    watch.install();
    database_.execute("delete from kinds where n = 5");
    EXPECT_EQ(members().size(), 2U) << column;
    database_.execute(
        "insert into kinds values (5, 'aaaaaaaa-89ab-4def-8123-456789abcdef', "
        "'2024-02-29', 'C c')");
    EXPECT_EQ(members(), keys) << column;
    watch.uninstall();
    for (auto const& one : keys) stock_.remove(key(one));
  }
}

TEST_P(reconciling, keys_are_bytes_whatever_the_column_thinks_equal) {
  std::string type = "varchar(40) collate utf8mb4_unicode_ci";
  if (on_sqlite()) type = "text collate nocase";
  if (on_postgres()) {
    database_.execute(
        "create collation caseless (provider = icu, locale = 'und-u-ks-level2', "
        "deterministic = false)");
    type = "varchar(40) collate caseless";
  }
  database_.execute("create table word(w " + type + " not null unique)" + innodb());
  auto watch = follow("word", "w");
  stock_.add(key("HELLO"));
  stock_.add(key("b"));
  database_.execute("insert into word values ('hello'), ('b')");
  EXPECT_EQ(watch.compare().extra, 1);
  auto const done = watch.reconcile();
  EXPECT_EQ(done.added, 1);
  EXPECT_EQ(done.removed, 1);
  EXPECT_EQ(members(), (set{"hello", "b"}));
  watch.install();
  database_.execute("update word set w = 'Hello' where w = 'hello'");
  EXPECT_EQ(members(), (set{"Hello", "b"}));
  EXPECT_EQ(watch.compare().missing + watch.compare().extra, 0);
}

TEST_P(reconciling, other_characters_and_numbers_without_a_sign) {
  if (!on_mariadb()) return;  // the others have one encoding, and no such numbers
  database_.execute(
      "create table old(w varchar(40) character set latin1 collate latin1_german1_ci not null "
      "unique, n bigint unsigned not null unique) engine = InnoDB");
  database_.execute(
      "insert into old values ('\xC3\xA4rger', 18446744073709551615), ('b', 9223372036854775808)");
  auto watch = follow("old", "w");
  stock_.add(key("\xE4\xBA\xA7"));  // what latin1 has not
  EXPECT_EQ(watch.reconcile().removed, 1);
  EXPECT_EQ(members(), (set{"\xC3\xA4rger", "b"}));
  EXPECT_EQ(watch.reconcile().removed, 0);
  auto numbers = follow("old", "n");
  EXPECT_EQ(numbers.reconcile().added, 2);
  EXPECT_EQ(members(), (set{"18446744073709551615", "9223372036854775808"}));
  EXPECT_EQ(numbers.reconcile().removed, 0);
}

TEST_P(reconciling, values_that_can_be_no_key_are_counted_and_passed_over) {
  database_.execute("insert into product(code) values ('" + std::string(256, 'x') +
                    "'), ('a'), ('zz')");
  auto watch = follow("product", "code");
  auto const done = watch.reconcile();
  EXPECT_EQ(done.added, 2);
  EXPECT_EQ(done.refused, 1);
  EXPECT_EQ(done.example, std::string(256, 'x'));
  EXPECT_EQ(watch.compare().refused, 1);
  auto const found = book_.doctor().back();
  EXPECT_EQ(found.severity, daybook::severity::warning);
  EXPECT_NE(found.found.find("1 rows whose value can be no key"), std::string::npos) << found.found;
}

TEST_P(reconciling, values_of_another_type_than_the_columns_are_passed_over) {
  if (!on_sqlite()) return;  // the others have none
  database_.execute("create table loose(n bigint not null unique)");
  database_.execute("insert into loose values (1), ('x'), (2.5), (x'00ff'), (9)");
  auto watch = follow("loose", "n");
  EXPECT_EQ(watch.reconcile().refused, 3);
  EXPECT_EQ(members(), (set{"1", "9"}));
  watch.install();
  database_.execute("insert into loose values ('y')");
  database_.execute("delete from loose where n = 'x'");
  EXPECT_EQ(members(), (set{"1", "9"}));
}

TEST_P(reconciling, beside_writers_triggers_and_another_who_does_the_same) {
  auto watch = follow("product", "code");
  put_products(1, 3000);
  watch.install();
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 2; ++writer) {
    threads.emplace_back([&, writer] {
      raw_connection mine(direct_url());
      if (on_sqlite()) mine.execute("pragma busy_timeout = 20000");
      for (int i = 0; i < 40; ++i) {
        auto const code = "w" + std::to_string(writer) + "-" + std::to_string(i);
        mine.execute(adding(code));
        if (i % 2 == 0) mine.execute("delete from product where code = '" + code + "'");
      }
    });
  }
  auto other = database_.open(watched());
  for (auto* book : {&book_, &other}) {
    threads.emplace_back([book] {
      auto mine = book->queue("stock").value().followed().value();
      for (int i = 0; i < 3; ++i) mine.reconcile();
    });
  }
  for (auto& one : threads) one.join();
  watch.reconcile();
  expect_covered();
  EXPECT_EQ(stock_.counts().members, 3040);
  auto const drift = watch.compare();
  EXPECT_EQ(drift.missing + drift.extra, 0);
  EXPECT_EQ(drain(stock_), 3040);
}

TEST_P(reconciling, a_row_that_somebody_has_in_hand_is_left_for_the_next_time) {
  if (on_sqlite()) return;  // there nobody has it in hand while another writes
  auto watch = follow("product", "code");
  stock_.add(key("a"));
  stock_.add(key("b"));
  raw_connection user(direct_url());
  user.execute("begin");
  user.execute(adding("a"));
  auto const done = watch.reconcile();
  EXPECT_LE(done.removed, 2);
  user.execute("commit");
  watch.reconcile();
  EXPECT_EQ(members(), set{"a"});
}

TEST_P(reconciling, a_lost_reply_changes_nothing) {
  put_products(1, 100);
  auto watch = follow("product", "code");
  for (std::string const what : {"reconcile", "import", "watch"}) {
    for (std::string const where : {".begun", ".before_commit", ".committed"}) {
      stock_.add(key("gone"));
      stock_.remove(key("k7"));
      daybook::testing::arm(what + where, failpoint_action::cut);
      watch.reconcile();
      daybook::testing::disarm();
      EXPECT_EQ(members().size(), 100U) << what << where;
      EXPECT_EQ(members().count("gone"), 0U) << what << where;
    }
  }
  daybook::testing::arm("watch.committed", failpoint_action::cut);
  watch.install();
  daybook::testing::disarm();
  EXPECT_TRUE(watch.info().installed);
  expect_covered();
}

TEST_P(reconciling, a_row_that_came_after_it_was_looked_for_keeps_its_member) {
  auto watch = follow("product", "code");
  stock_.add(key("a"), {.payload = "mine"});
  stock_.add(key("b"));
  log_.on_retry = [&] { database_.execute(adding("a")); };
  daybook::testing::arm("reconcile.begun", failpoint_action::cut);
  auto const done = watch.reconcile();
  log_.on_retry = nullptr;
  EXPECT_EQ(done.removed, 1);
  EXPECT_EQ(done.added, 0);
  EXPECT_EQ(stock_.find(key("a")).value().payload, "mine");
}

TEST_P(reconciling, a_table_that_changed_its_shape_is_named) {
  auto watch = follow("product", "code");
  database_.execute("drop table product");
  EXPECT_EQ(fault_of([&] { watch.reconcile(); }), error_code::bad_argument);
  database_.execute("create table product(code " + text() + ")" + innodb());
  EXPECT_NE(message_of([&] { watch.reconcile(); }).find("may be null"), std::string::npos);
}

DAYBOOK_ON_EVERY_ENGINE(reconciling);

}  // namespace
}  // namespace conformance
