// Sweeps over tables of any kind, and what cannot be swept.
#include "conformance/sweeping.hpp"

#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace conformance {
namespace {

/// A table of any kind, whose rows are worked on by key.
class swept_keys : public swept {
 protected:
  /// All keys that the pages have, as "a|b".
  std::vector<std::string> sweep(sweep_strategy const& how) {
    auto plan = make(how);
    std::vector<std::string> out;
    for (int passes = 0; passes < 20; ++passes) {
      plan.pass();
      while (auto batch = work_.claim()) {
        for (auto const& task : batch->tasks()) {
          if (auto const page = plan.page(key(task.key))) {
            EXPECT_EQ(
                page->perform(*batch, task,
                              [&](transaction&, std::vector<row_key> const& present) {
                                EXPECT_EQ(present, page->keys());
                                for (auto const& one : present) {
                                  out.push_back(one[0] + (one.size() > 1 ? "|" + one[1] : ""));
                                }
                              }),
                outcome::done);
          } else {
            batch->finish(task, daybook::result::success());
          }
        }
        EXPECT_EQ(std::move(*batch).complete(), outcome::done);
      }
      if (plan.sweeps(1).at(0).state == sweep_state::over) break;
      if (passes == 0) late();
    }
    EXPECT_EQ(plan.sweeps(1).at(0).state, sweep_state::over);
    std::sort(out.begin(), out.end());
    return out;
  }
  void table(std::string const& columns) {
    database_.execute("create table odd(" + columns + ")" + innodb());
  }
  void expect_all(std::vector<std::string> const& got, std::string const& key_sql) const {
    auto const count = database_.query("select count(*) from odd");
    EXPECT_EQ(std::to_string(got.size()), count);
    EXPECT_EQ(std::set<std::string>(got.begin(), got.end()).size(), got.size());
    for (auto one : got) {
      if (auto const quote = one.find('\''); quote != std::string::npos) one.insert(quote, "'");
      EXPECT_EQ(database_.query("select count(*) from odd where " + key_sql + " = '" + one + "'"),
                "1")
          << one;
    }
  }
  std::function<void()> late = [] {};
};

TEST_P(swept_keys, texts_go_by_the_columns_own_order) {
  auto const type = on_sqlite()    ? "text collate nocase"
                    : on_mariadb() ? "varchar(40) character set latin1 collate latin1_german1_ci"
                                   : "varchar(40)";
  table(std::string("code ") + type + " not null primary key");
  database_.execute(
      "insert into odd values ('b'), ('A'), ('C'), ('a b'), (''), ('Zz'), ('zy'), ('10'), ('9'), "
      "('\xc3\xb6'), ('it''s'), ('100%'), ('x:y')");
  late = [&] { database_.execute("insert into odd values ('aa'), ('ZZZ'), ('~')"); };
  expect_all(sweep({.table = "odd", .page = 3}), "code");
}

/// An o with two dots is in the middle of the letters, or after the last, by the column's own word.
TEST_P(swept_keys, texts_are_in_any_collation) {
  std::vector<std::string> kinds{"varchar(40)"};
  if (on_sqlite()) kinds = {"text", "text collate rtrim"};
  if (on_postgres()) kinds.emplace_back("text collate \"C\"");
  if (on_mariadb()) {
    for (auto const* const collation :
         {"latin1 collate latin1_swedish_ci", "latin1 collate latin1_bin",
          "utf8mb4 collate utf8mb4_swedish_ci", "utf8mb4 collate utf8mb4_unicode_ci",
          "ucs2 collate ucs2_general_ci", "ascii collate ascii_general_ci"}) {
      kinds.push_back("varchar(40) character set " + std::string(collation));
    }
  }
  for (auto const& kind : kinds) {
    SCOPED_TRACE(kind);
    bool const ascii = kind.find("ascii") != std::string::npos;
    database_.execute("drop table if exists odd");
    table("code " + kind + " not null primary key, n int");
    database_.execute(std::string("insert into odd(code) values ('a'), ('b'), ('z')") +
                      (ascii ? "" : ", ('\xc3\xb6')"));
    late = [this] { database_.execute("insert into odd(code) values ('c'), ('zz')"); };
    sweep_strategy const how{.table = "odd", .page = 1};
    EXPECT_TRUE(make(how).sweep_now(anna));
    auto const got = sweep(how);
    EXPECT_EQ(got.size(), ascii ? 5U : 6U);
    expect_all(got, "code");
  }
}

TEST_P(swept_keys, several_columns_are_one_key) {
  table("day date not null, code " + text() + " not null, n int, primary key (code, day)");
  std::string all;
  for (int i = 0; i < 60; ++i) {
    all += (i == 0 ? "('2026-01-" : ", ('2026-01-") + std::to_string(10 + i % 12) + "', 'c" +
           std::to_string(i / 12) + "', 1)";
  }
  database_.execute("insert into odd values " + all);
  late = [&] {
    database_.execute("insert into odd values ('2025-12-31', 'c2', 1), ('2026-02-01', 'c2', 1)");
  };
  auto const got = sweep({.table = "odd", .page = 7});
  EXPECT_EQ(got.size(), 62U);
  EXPECT_EQ(got.front(), "c0|2026-01-10") << "in the order of the primary key";
  EXPECT_EQ(std::set<std::string>(got.begin(), got.end()).size(), 62U);
}

TEST_P(swept_keys, uuids_and_large_numbers) {
  if (!on_sqlite() && !on_mysql()) {
    table("id uuid not null primary key");
    std::mt19937_64 random(1);
    for (int i = 0; i < 3; ++i) {
      std::string all;
      for (int j = 0; j < 30; ++j) {
        auto const hex = std::to_string(1'000'000'000'000 + random() % 8'000'000'000'000);
        all += (j == 0 ? "('" : ", ('") + hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-4" +
               hex.substr(0, 3) + "-8" + hex.substr(3, 3) + "-a" + hex.substr(0, 11) + "')";
      }
      if (i < 2) {
        database_.execute("insert into odd values " + all);
      } else {
        late = [this, all] { database_.execute("insert into odd values " + all); };
      }
    }
    expect_all(sweep({.table = "odd", .page = 8}), "id");
    database_.execute("drop table odd");
  }
  late = [] {};
  table(on_mariadb() ? "id bigint unsigned not null primary key"
                     : "id bigint not null primary key");
  database_.execute(
      "insert into odd values (0), (1), (9223372036854775806), (9223372036854775807)" +
      std::string(on_mariadb() ? ", (9223372036854775808), (18446744073709551615)"
                               : ", (-9223372036854775807), (-1)"));
  work_ = book_.make_queue("pages", {.attempts = 1});
  auto const again = book_.make_planner(
      "large", {.queue = "pages", .strategy = sweep_strategy{.table = "odd", .page = 2}});
  EXPECT_EQ(book_.planner("large")->pass().launched, 3);
  std::vector<std::string> all;
  for (auto const* page : {"large/1/1", "large/1/2", "large/1/3"}) {
    for (auto const& one : again.page(key(page)).value().present()) all.push_back(one[0]);
  }
  expect_all(all, "id");
}

TEST_P(swept_keys, the_time_of_creation_may_be_the_order) {
  auto const type = on_sqlite() ? "text" : on_mariadb() ? "timestamp(6)" : "timestamptz";
  table(std::string("id bigint not null primary key, made ") + type +
        " not null default current_timestamp" + (on_mariadb() ? "(6)" : ""));
  std::string all;
  for (int i = 0; i < 90; ++i) {
    // A third of them at one instant, the ids the other way round.
    auto const second = i < 30 ? 10 + i : i < 60 ? 40 : 10 + i % 30;
    all += (i == 0 ? "(" : ", (") + std::to_string(1000 - i) +
           ", '2026-03-29 01:59:" + std::to_string(second) + (i % 2 == 0 ? ".000001" : ".000002") +
           "')";
  }
  auto const how = sweep_strategy{.table = "odd", .created = "made", .page = 7};
  EXPECT_NE(message_of([&] { make(how); }).find("no index of table 'odd' has (made, id)"),
            std::string::npos);
  database_.execute(std::string("create index odd_made on odd(made") +
                    (on_mariadb() ? ")" : ", id)"));
  database_.execute("insert into odd values " + all);
  late = [&] {
    database_.execute(
        "insert into odd values (5000, '2026-03-29 01:59:11.5'), (1, '2026-03-29 "
        "01:59:40.000001'), "
        "(2, '2026-03-29 03:00:00')");
  };
  auto const got = sweep(how);
  EXPECT_EQ(got.size(), 93U);
  expect_all(got, "id");
}

TEST_P(swept_keys, moments_far_from_now_have_their_place) {
  if (on_sqlite()) return;  // texts, there
  auto const large = on_mariadb() ? "9999-12-31 23:59:59.999999" : "294276-12-31 23:59:59.999999";
  table(std::string("id bigint not null primary key, made ") +
        (on_mariadb() ? "datetime(6)" : "timestamp") + " not null");
  database_.execute("create unique index odd_made on odd(made, id)");
  database_.execute(
      "insert into odd values (8, '1001-01-01 00:00:00.000001'), (7, '1582-10-04 12:00:00'), "
      "(6, '1999-12-31 23:59:59.999999'), (5, '2000-01-01 00:00:00'), "
      "(4, '2000-01-01 00:00:00.000001'), (3, '2026-11-22 11:00:00.123456'), (2, '" +
      std::string(large) + "'), (1, '" + large + "')");
  auto const got = sweep({.table = "odd", .created = "made", .page = 1});
  EXPECT_EQ(got.size(), 8U);
  expect_all(got, "id");
}

TEST_P(swept_keys, few_rows_are_held_in_memory) {
  table("a int not null, b int not null, unique (b, a)");
  database_.execute("insert into odd values (1,1), (1,2), (2,1), (3,7), (0,9)");
  sweep_strategy how{
      .table = "odd", .key = {"a", "b"}, .in_memory = true, .max_rows = 5, .page = 2};
  auto by_index = how;
  by_index.in_memory = false;
  EXPECT_NE(message_of([&] { make(by_index); }).find("(a, b) in this order"), std::string::npos);
  auto plan = make(how);
  EXPECT_EQ(plan.pass().launched, 3);
  EXPECT_EQ(plan.page(key("all/1/3")).value().keys(), (std::vector<row_key>{{"3", "7"}}));
  EXPECT_EQ(drain(work_), 3);
  plan.pass();
  EXPECT_EQ(drain(work_), 1);
  database_.execute("insert into odd values (9,9)");
  EXPECT_TRUE(plan.sweep_now(anna));
  EXPECT_NE(message_of([&] { plan.pass(); }).find("has more than 5 rows"), std::string::npos);
  EXPECT_NE(plan.info().error.find("has more than 5 rows"), std::string::npos);
}

TEST_P(swept_keys, what_cannot_be_swept) {
  auto const fails = [&](sweep_strategy const& how, std::string const& with) {
    auto const said = message_of([&] { make(how); });
    EXPECT_NE(said.find("plan 'all': "), std::string::npos) << said;
    EXPECT_NE(said.find(with), std::string::npos) << said;
    EXPECT_EQ(fault_of([&] { make(how); }), error_code::bad_argument);
  };
  table("id int not null primary key, code " + text() + ", n int not null, x " +
        (on_sqlite() ? "real" : "double precision") + " not null, y " +
        (on_sqlite() ? "real" : "double precision") + " not null unique");
  database_.execute("create table bare(a int not null)" + innodb());
  database_.execute("create view seen as select id from odd");
  fails({.table = "nothing"}, "there is no table 'nothing'");
  fails({.table = "odd", .key = {"idd"}}, "table 'odd' has no column 'idd'; it has id, code, n");
  fails({.table = "odd", .key = {"code"}}, "'code' of table 'odd' may be null");
  fails({.table = "odd", .key = {"n"}}, "(n) need not be unique in table 'odd'");
  fails({.table = "odd", .key = {"id", "id"}}, "names 'id' twice");
  fails({.table = "odd", .key = {"y"}}, "keys are integers, texts, uuids and dates");
  fails({.table = "odd", .created = "x"}, "pages are cut by integers");
  fails({.table = "odd", .created = "code"}, "may be null");
  fails({.table = "odd", .created = "n"}, "no index of table 'odd' has (n, id)");
  fails({.table = "bare"}, "'bare' has no primary key");
  fails({.table = "seen", .key = {"id"}}, "is a view");
  fails({.table = ""}, "it names no table");
  fails({.table = "odd", .page = 0}, "the rows of a page is 0");
  fails({.table = "odd", .comparisons = -1}, "the number of comparisons");
  fails({.table = "odd", .repeat_after = -1s}, "the time to the next sweep");
  fails({.table = "odd", .in_memory = true, .max_rows = 1'000'000, .page = 1}, "10000 pages");
  if (on_mariadb()) {
    database_.execute("create table old(id int not null primary key) engine = MyISAM");
    fails({.table = "old"}, "convert it to InnoDB");
  }
  EXPECT_NE(message_of([&] {
              book_.make_planner(std::string(214, 'x'),
                                 {.queue = "pages", .strategy = sweep_strategy{.table = "odd"}});
            }).find("is 214 bytes long: at most 213"),
            std::string::npos);
  auto other = book_.make_planner(
      "asks", {.queue = "pages", .strategy = daybook::query_strategy{"select id from odd"}});
  EXPECT_NE(message_of([&] { other.sweep_now(anna); }).find("it is no sweep"), std::string::npos);
}

TEST_P(swept_keys, what_is_under_way_is_not_turned_to_another_table) {
  rows(5);
  table("id int not null primary key");
  auto plan = make();
  plan.pass();
  make({.table = "item", .page = 7, .comparisons = 1});
  EXPECT_NE(
      message_of([&] { make({.table = "odd"}); }).find("sweep 1 of table 'item' is under way"),
      std::string::npos);
  finish(plan);
  make({.table = "odd"});
}

TEST_P(swept_keys, a_value_without_a_place_ends_the_pass) {
  if (!on_sqlite()) return;  // the others' columns hold what they are of
  table("code text not null primary key");
  database_.execute("insert into odd values ('a'), ('b'), (x'61')");
  auto plan = make({.table = "odd"});
  EXPECT_NE(message_of([&] { plan.pass(); }).find("after the key b"), std::string::npos);
  EXPECT_NE(plan.info().error.find("no place"), std::string::npos);
}

DAYBOOK_ON_EVERY_ENGINE(swept_keys);

}  // namespace
}  // namespace conformance
