// Aggregations over columns of many kinds: groups of several, texts compared in other ways than is
// usual, texts with blanks at their end, keys that are none.
#include "conformance/aggregating.hpp"

#include "service/engine.hpp"
#include "tables/table.hpp"

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
  /// How texts of the table are compared.
  void compare(std::string const& table, std::string const& mariadb, std::string const& postgres) {
    if (on_sqlite()) return;  // a column says that when it is made
    if (on_mariadb()) {
      auto const set = mariadb.substr(0, mariadb.find('_'));
      database_.execute("alter table " + table + " convert to character set " + set + " collate " +
                        mariadb);
      return;
    }
    auto const texts = database_.query(
        "select string_agg('alter column ' || column_name || ' type varchar(32) collate \"" +
        postgres + "\"', ', ') from information_schema.columns where table_name = '" + table +
        "' and data_type = 'character varying'");
    database_.execute("alter table " + table + " " + texts);
  }
  /// One that changes nothing.
  void trigger() {
    if (on_sqlite()) {
      database_.execute("create trigger looks after update on t_move_brick begin select 1; end");
    } else if (on_mariadb()) {
      database_.execute(
          "create trigger looks before update on t_move_brick for each row set @seen = 1");
    } else {
      database_.execute(
          "create function looks() returns trigger language plpgsql as $$ begin return new; end "
          "$$");
      database_.execute(
          "create trigger looks before update on t_move_brick for each row execute function "
          "looks()");
    }
  }
  void every_verb(daybook::aggregation pay) {
    move({{101, 1}, {102, 2}, {101, 4}, {103, 8}, {104, 16}});
    EXPECT_THAT(pay.preview(), SizeIs(4));
    auto const done = pay.aggregate();
    EXPECT_THAT(refused(done), IsEmpty());
    ASSERT_EQ(done.rows, 5);
    move({{101, 32}, {102, 64}});
    EXPECT_EQ(pay.preview().at(0).parent, pay_of(101));
    EXPECT_EQ(pay.aggregate().rows, 2);
    EXPECT_THAT(pay.parents(), SizeIs(4));
    EXPECT_THAT(pay.parents({.state = daybook::state_value(1)}), SizeIs(4));
    EXPECT_EQ(pay.find(pay_of(101)).value().sums.at(0), "37");
    EXPECT_THAT(pay.rows(pay_of(101)), SizeIs(3));
    EXPECT_EQ(pay.parent_of("2"), pay_of(102));
    EXPECT_THAT(wrong(pay), IsEmpty());
    EXPECT_EQ(pay.remove("3", alice), settling::done);
    EXPECT_EQ(pay.close(pay_of(101), alice), settling::done);
    EXPECT_EQ(pay.settle(pay_of(101, 2), alice), settling::done);
    EXPECT_EQ(pay.revert(pay_of(102), alice), settling::done);
    EXPECT_EQ(pay.aggregate({.new_parent = true}).rows, 3);
    EXPECT_THAT(wrong(pay), IsEmpty());
    auto const lost = pay_of(104);
    database_.execute("delete from t_move_pay where pay_no = '" + lost + "'");
    EXPECT_THAT(wrong(pay), ElementsAre("gone pay_no: not there, expected " + lost,
                                        "orphan pay_no: , expected "));
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

TEST_P(gathered_by_columns, texts_may_be_compared_otherwise_than_is_usual_in_each_table) {
  compare("t_move_brick", "utf8mb4_unicode_ci", "POSIX");
  compare("t_move_pay", "utf8mb4_unicode_ci", "POSIX");
  every_verb(declared());
}

TEST_P(gathered_by_columns, texts_may_be_compared_otherwise_in_the_parents_than_in_the_rows) {
  compare("t_move_brick", "utf8mb4_unicode_ci", "POSIX");
  compare("t_move_pay", "utf8mb4_general_ci", "C");
  every_verb(declared());
}

TEST_P(gathered_by_columns, nor_do_triggers_mind_how_texts_are_compared) {
  compare("t_move_brick", "utf8mb4_unicode_ci", "POSIX");
  compare("t_move_pay", "latin1_german1_ci", "C");
  trigger();
  every_verb(declared());
}

TEST_P(gathered_by_columns, rows_are_found_by_a_group_that_is_compared_otherwise_in_the_parents) {
  for (auto const* table : {"t_move_brick", "t_move_pay"}) {
    database_.execute("alter table " + std::string(table) + " add column site varchar(30)");
  }
  drop_link_index();
  compare("t_move_brick", "utf8mb4_unicode_ci", "POSIX");
  compare("t_move_pay", "utf8mb4_general_ci", "C");
  auto options = aggregating::options();
  options.source.group = {"site"};
  options.parent.opening = {{"worker_id", "char_length(site)"}};
  if (on_sqlite()) options.parent.opening = {{"worker_id", "length(site)"}};
  auto pay = declared(options);
  move_at(101, "a", 1);
  move_at(102, "bb", 2);
  move_at(103, "bb", 4);
  auto const done = pay.aggregate();
  EXPECT_THAT(refused(done), IsEmpty());
  ASSERT_EQ(done.rows, 3);
  EXPECT_EQ(pay.remove("3", alice), settling::done);
  EXPECT_EQ(pay.revert(pay_of(2), alice), settling::done);
  EXPECT_EQ(pay.close(pay_of(1), alice), settling::done);
  EXPECT_EQ(pay.settle(pay_of(1, 2), alice), settling::done);
  EXPECT_THAT(wrong(pay), IsEmpty());
}

TEST_P(gathered_by_columns, what_a_parent_says_otherwise_than_its_rows_finds_none_of_them) {
  drop_link_index();
  database_.execute("create index by_worker on t_move_brick (worker_id)");
  std::vector<daybook::parent_column> const other{{"worker_id", "worker_id * 2"}};
  for (bool const follows : {false, true}) {
    for (bool const counted : {true, false}) {
      SCOPED_TRACE(std::to_string(follows) + std::to_string(counted));
      auto options = aggregating::options();
      options.parent.opening.clear();
      (follows ? options.parent.following : options.parent.opening) = other;
      if (!counted) options.parent.count.clear();
      auto pay = declared(options);
      EXPECT_THAT(pay.advice(), ElementsAre(HasSubstr("pay_no")));
      move({{101, 1}, {101, 2}, {101, 4}, {102, 8}, {103, 16}, {103, 32}});
      EXPECT_EQ(pay.aggregate().rows, 6);
      auto const first = database_.query("select min(id) from t_move_brick where status = 2");
      auto const key_of = [&](int worker) {
        return database_.query("select pay_no from t_move_brick where status = 2 and worker_id = " +
                               std::to_string(worker));
      };
      EXPECT_EQ(pay.remove(first, alice), settling::done);
      EXPECT_EQ(pay.find(key_of(101)).value().sums.at(0), "6");
      EXPECT_THAT(wrong(pay), IsEmpty());
      EXPECT_EQ(pay.revert(key_of(103), alice), settling::done);
      EXPECT_EQ(bricks("worker_id = 103 and status = 1 and pay_no = ''"), "2");
      EXPECT_EQ(pay.close_all(alice), 2);
      EXPECT_EQ(pay.settle(key_of(101), alice), settling::done);
      EXPECT_EQ(pay.settle(key_of(102), alice), settling::done);
      EXPECT_EQ(bricks("status = 3"), "3");
      EXPECT_THAT(wrong(pay), IsEmpty());
      database_.execute("delete from t_move_brick");
      database_.execute("delete from t_move_pay");
    }
  }
}

TEST_P(gathered_by_columns, keys_may_be_shorter_than_the_column_that_fills_them_with_blanks) {
  std::vector<std::pair<std::string, std::string>> const kinds{
      {"char(36)", "char(40)"}, {"varchar(36)", "char(40)"}, {"char(36)", "varchar(40)"}};
  for (auto const& [link, key] : kinds) {
    SCOPED_TRACE(link + " " + key);
    for (auto const* table : {"piece", "bill"}) {
      database_.execute("drop table if exists " + std::string(table));
    }
    database_.execute(
        "create table piece (code char(10) not null primary key, till char(8) not "
        "null, n int not null, status int not null default 1, bill " +
        link + ")" + innodb());
    database_.execute("create table bill (no " + key +
                      " not null primary key, till char(8) not null, n int not null, total int "
                      "not null, status int not null)" +
                      innodb());
    aggregation_options options;
    options.source = {.table = "piece",
                      .key = "code",
                      .state = "status",
                      .link = "bill",
                      .unlinked = std::nullopt,
                      .group = {"till"}};
    options.parent = {.table = "bill", .key = "no", .state = "status", .count = "n"};
    options.sums = {{"n", "total"}};
    options.chunk = 2;
    options.key_of = [&, made = 0](std::vector<std::string> const& group) mutable {
      return "B" + std::to_string(++made) + "-" + group.at(0) + link.substr(0, 1);
    };
    auto const put = [&](std::string const& code, std::string const& till, int n) {
      database_.execute("insert into piece (code, till, n) values ('" + code + "', '" + till +
                        "', " + std::to_string(n) + ")");
    };
    put("a", "west", 1);
    put("ab", "west", 2);
    put("ab c", "north", 4);
    put("b", "west", 8);
    put("d", "south", 16);
    auto bills = book_.make_aggregation("bills " + link + key, options);
    EXPECT_THAT(bills.preview(), SizeIs(3));
    auto const done = bills.aggregate();
    EXPECT_EQ(done.rows, 5);
    EXPECT_THAT(refused(done), IsEmpty());
    ASSERT_THAT(bills.parents(), SizeIs(3));
    EXPECT_THAT(bills.preview(), IsEmpty());
    auto const west = bills.parent_of("ab").value();
    EXPECT_EQ(bills.find(west).value().sums.at(0), "11");
    EXPECT_EQ(bills.find(west).value().group, "west");
    EXPECT_EQ(bills.remove("ab", alice), settling::done);
    EXPECT_EQ(bills.find(west).value().sums.at(0), "9");
    EXPECT_THAT(bills.history(west), SizeIs(1));
    EXPECT_THAT(wrong(bills), IsEmpty());
    EXPECT_EQ(bills.close(west, alice), settling::done);
    EXPECT_EQ(bills.settle(west, alice), settling::done);
    EXPECT_EQ(bills.revert(bills.parent_of("d").value(), alice), settling::done);
    EXPECT_EQ(bills.aggregate().rows, 2);
    EXPECT_THAT(wrong(bills), IsEmpty());
    bills.close_all(alice);
    for (auto const* row : {"ab", "ab c", "d"}) {
      EXPECT_EQ(bills.settle(bills.parent_of(row).value(), alice), settling::done) << row;
    }
    EXPECT_EQ(database_.query("select count(*) from piece where status = 3"), "5");
    EXPECT_THAT(wrong(bills), IsEmpty());
  }
}

TEST_P(gathered_by_columns, numbers_made_for_parents_go_up_from_chunk_to_chunk) {
  database_.execute(
      "create table piece (id bigint not null primary key, n int not null, status "
      "int not null default 1, bill bigint)" +
      innodb());
  database_.execute(
      "create table bill (no bigint not null primary key, id bigint not null, total "
      "int not null, status int not null)" +
      innodb());
  aggregation_options options;
  options.source = {.table = "piece",
                    .state = "status",
                    .link = "bill",
                    .unlinked = std::nullopt,
                    .group = {"id"}};
  options.parent = {.table = "bill", .key = "no", .state = "status"};
  options.sums = {{"n", "total"}};
  options.chunk = 1;
  for (int i = 1; i <= 12; ++i) {
    database_.execute("insert into piece (id, n) values (" + std::to_string(i) + ", 1)");
  }
  EXPECT_EQ(book_.make_aggregation("bills", options).aggregate().parents, 12);
  EXPECT_EQ(database_.query("select count(*) from bill b where exists (select 1 from bill a "
                            "where a.id < b.id and a.no >= b.no)"),
            "0");
}

TEST_P(gathered_by_columns, keys_that_are_none_are_named_and_not_passed_over) {
  if (!on_sqlite()) return;  // a column of the others holds what it says
  struct one {
    char const* type;
    char const* good;
    char const* bad;
    char const* named;
  };
  for (auto const& [type, good, bad, named] :
       {one{"uuid", "'0198b2f0-0000-7000-8000-000000000001'", "x'0198b2f0000070008000000000000002'",
            "a key that is a blob"},
        one{"text", "'a'", "x'61'", "a key that is a blob"},
        one{"bigint", "7", "x'37'", "a key that is a blob"},
        one{"bigint", "7", "'seven'", "the key 'seven'"},
        one{"bigint", "7", "7.5", "the key '7.500000'"},
        one{"bigint", "7", "6.5", "the key '6.500000'"}}) {
    SCOPED_TRACE(std::string(type) + " " + bad);
    database_.execute("drop table if exists piece");
    database_.execute("delete from t_move_pay");
    database_.execute("create table piece (id " + std::string(type) +
                      " not null primary key, worker_id int, n int not null default 1, status int "
                      "not null default 1, bill text)");
    auto options = aggregating::options();
    options.source.table = "piece";
    options.source.link = "bill";
    options.source.unlinked.reset();
    options.parent.opening.clear();
    options.sums = {{"n", "move_sum"}};
    options.chunk = 1;
    auto pay = book_.make_aggregation(std::string("pay ") + type + bad, options);
    database_.execute("insert into piece (id, worker_id) values (" + std::string(good) + ", 101)");
    EXPECT_EQ(pay.aggregate().rows, 1);
    database_.execute("insert into piece (id, worker_id) values (" + std::string(bad) + ", 101)");
    auto const again = [&] { pay.aggregate(); };
    EXPECT_EQ(fault_of(again), error_code::bad_argument);
    EXPECT_THAT(message_of(again), HasSubstr(std::string("'piece' has ") + named));
    database_.execute("delete from piece where id = " + std::string(bad));
    EXPECT_EQ(pay.aggregate().rows, 0);
    EXPECT_THAT(wrong(pay), IsEmpty());
    if (std::string_view(type) != "bigint") continue;
    // Between others it is passed when those are taken.
    options.chunk = 10;
    pay = book_.make_aggregation(std::string("pay ") + type + bad, options);
    database_.execute("insert into piece (id, worker_id) values (8, 101), (8.5, 102), (9, 103)");
    EXPECT_THAT(message_of(again), HasSubstr("'piece' has the key '8.500000'"));
    EXPECT_EQ(database_.query("select group_concat(id) from piece where status = 2"), "7,8,9");
    EXPECT_THAT(wrong(pay), IsEmpty());
  }
}

DAYBOOK_ON_EVERY_ENGINE(gathered_by_columns);

}  // namespace
}  // namespace conformance
