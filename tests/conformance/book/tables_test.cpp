// The tables of the application, as the library sees them: columns, indexes, keys, names.
#include "conformance/fixture.hpp"

#include "service/engine.hpp"
#include "tables/table.hpp"

#include <array>
#include <limits>

namespace conformance {
namespace {

using daybook::tables::kind;

class tables : public on_engine {
 protected:
  tables() {
    std::string const text = on_sqlite() ? "text" : "varchar(40)";
    database_.execute("create table thing(id bigint not null primary key, code " + text +
                      " not null, n int, day date not null, price numeric(10,2), unique (code))" +
                      innodb());
    database_.execute("create index thing_by_day on thing(day, n)");
  }
  [[nodiscard]] daybook::core::context with() const { return book_.internals().ready(); }
  [[nodiscard]] std::string value(std::string const& sql) const {
    return database_.query("select " + sql + (on_sqlite() ? "" : " from thing where id = 7"));
  }
};

TEST_P(tables, columns_and_indexes_are_as_the_engine_has_them) {
  auto const found = daybook::tables::look(with(), "thing");
  ASSERT_EQ(found.columns.size(), 5U);
  EXPECT_EQ(found.what, daybook::tables::sort::table);
  EXPECT_TRUE(found.transactional);
  auto const& id = daybook::tables::need(found, "id", "here");
  EXPECT_EQ(id.what, kind::integer);
  EXPECT_FALSE(id.nullable);
  EXPECT_EQ(id.high, std::numeric_limits<std::int64_t>::max());
  auto const& n = daybook::tables::need(found, "n", "here");
  EXPECT_EQ(n.what, kind::integer);
  EXPECT_TRUE(n.nullable);
  if (!on_sqlite()) {
    EXPECT_EQ(n.high, 2147483647);
  }
  auto const& code = daybook::tables::need(found, "code", "here");
  EXPECT_EQ(code.what, kind::text);
  if (!on_sqlite()) {
    EXPECT_EQ(code.length, 40);
  }
  EXPECT_EQ(daybook::tables::need(found, "day", "here").what, kind::date);
  EXPECT_EQ(daybook::tables::need(found, "price", "here").what, kind::decimal);

  using names = std::array<std::string, 1>;
  EXPECT_TRUE(found.unique(names{"id"}).holds);
  EXPECT_TRUE(found.unique(names{"code"}).holds);
  EXPECT_FALSE(found.unique(names{"day"}).holds);
  ASSERT_NE(found.led_by(names{"day"}), nullptr);
  EXPECT_EQ(found.led_by(names{"day"})->name, "thing_by_day");
  EXPECT_NE(found.led_by(names{"id"}), nullptr);
  EXPECT_EQ(found.led_by(names{"n"}), nullptr);
  std::array<std::string, 2> const two{"id", "n"};
  EXPECT_TRUE(found.unique(two).holds);
}

/// Two rows of one transaction may have the same key there, of which triggers see one.
TEST_P(tables, a_deferrable_constraint_makes_no_key) {
  if (!on_postgres()) return;
  database_.execute(
      "create table slot(id bigint primary key deferrable, code varchar(40) not null unique "
      "deferrable initially deferred, state int not null, link varchar(40))");
  database_.execute("create table total(id varchar(40) primary key, state int not null, n int)");
  auto const refused = [](auto const& declare) {
    auto const why = message_of(declare);
    EXPECT_NE(why.find("' is deferrable"), std::string::npos) << why;
    EXPECT_NE(why.find("declare it 'not deferrable'"), std::string::npos) << why;
  };
  auto queue = book_.make_queue("slots");
  refused([&] { queue.follow({.table = "slot", .key = "code"}); });
  refused([&] {
    book_.make_planner("all",
                       {.queue = "slots", .strategy = daybook::sweep_strategy{.table = "slot"}});
  });
  daybook::aggregation_options sums;
  sums.source = {.table = "slot", .key = "id", .state = "state", .link = "link", .group = {"code"}};
  sums.parent = {.table = "total", .key = "id", .state = "state", .count = "n"};
  refused([&] { book_.make_aggregation("sums", sums); });
  database_.execute("create unique index slot_id on slot(id)");
  EXPECT_NO_THROW(book_.make_planner(
      "all", {.queue = "slots", .strategy = daybook::sweep_strategy{.table = "slot"}}));
}

TEST_P(tables, what_is_not_there_is_named_with_what_is) {
  auto const message = message_of([&] { (void)daybook::tables::look(with(), "thin"); });
  EXPECT_NE(message.find("no table 'thin'"), std::string::npos) << message;
  EXPECT_NE(message.find("thing"), std::string::npos) << message;
  auto const found = daybook::tables::look(with(), "thing");
  auto const column =
      message_of([&] { (void)daybook::tables::need(found, "idd", "queue 'stock'"); });
  EXPECT_NE(column.find("queue 'stock'"), std::string::npos) << column;
  EXPECT_NE(column.find("has no column 'idd'; it has id, code"), std::string::npos) << column;
}

TEST_P(tables, names_are_quoted_by_the_engines_rules) {
  auto const& by = with().dialect;
  std::string const odd = "or\"der`s; --";
  database_.execute("create table " + daybook::tables::quoted(by, odd) + " (" +
                    daybook::tables::quoted(by, "select") + " int)" + innodb());
  auto const found = daybook::tables::look(with(), odd);
  ASSERT_EQ(found.columns.size(), 1U);
  EXPECT_EQ(found.columns[0].name, "select");
  EXPECT_EQ(database_.query("select count(*) from " + found.sql), "0");
  EXPECT_EQ(fault_of([&] { (void)daybook::tables::quoted(by, ""); }), error_code::bad_argument);
  EXPECT_EQ(database_.query("select " + daybook::tables::literal(by, "it's \\' it")),
            "it's \\' it");
}

TEST_P(tables, a_value_and_its_key_are_one_each) {
  database_.execute("insert into thing(id, code, n, day) values (7, 'a b', -12, '2026-02-28')");
  auto const found = daybook::tables::look(with(), "thing");
  for (auto const& [name, text] : std::map<std::string, std::string>{
           {"id", "7"}, {"code", "a b"}, {"n", "-12"}, {"day", "2026-02-28"}}) {
    auto const& column = daybook::tables::need(found, name, "here");
    ASSERT_TRUE(daybook::tables::can_be_key(column)) << name;
    auto const sql = daybook::tables::quoted(with().dialect, name);
    EXPECT_EQ(
        database_.query("select " + daybook::tables::key_of(with(), column, sql) + " from thing"),
        text);
    auto const back =
        daybook::tables::value_of(with(), column, daybook::tables::literal(with().dialect, text));
    EXPECT_EQ(database_.query("select count(*) from thing where " + sql + " = " + back), "1")
        << name;
    // What is none of its values is none, and no error.
    auto const none = daybook::tables::value_of(with(), column, "lower('x-1')");
    EXPECT_EQ(database_.query("select count(*) from thing where " + sql + " = " + none), "0")
        << name;
  }
  EXPECT_FALSE(daybook::tables::can_be_key(daybook::tables::need(found, "price", "here")));
}

TEST_P(tables, what_can_be_a_key_is_known_to_the_engine) {
  auto const holds = [&](std::string const& text) {
    auto const sql =
        daybook::tables::is_key(with(), daybook::tables::literal(with().dialect, text));
    return database_.query("select case when " + sql + " then 'yes' else 'no' end");
  };
  EXPECT_EQ(holds("a"), "yes");
  EXPECT_EQ(holds("\xE4\xBA\xA7\xE5\x93\x81/1"), "yes");
  EXPECT_EQ(holds(""), "no");
  EXPECT_EQ(holds(std::string(255, 'x')), "yes");
  EXPECT_EQ(holds(std::string(256, 'x')), "no");
  EXPECT_EQ(holds("a\tb"), "no");
  EXPECT_EQ(holds("a\x7F"), "no");
  EXPECT_EQ(holds("a\xC2\x85"), "no");
}

TEST_P(tables, an_index_has_a_name_that_no_table_has_and_no_engine_cuts) {
  std::string const wide = "\u00e4rger_" + std::string(51, 't');  // 58 bytes
  std::string const half = std::string(49, 'h') + "\u00e4" + std::string(8, 'h');
  std::string const column(10, 'c');
  auto const quoted = [&](std::string const& name) {
    return daybook::tables::quoted(with().dialect, name);
  };
  auto const make = [&](std::string const& name, std::string const& columns) {
    database_.execute("create table " + quoted(name) + "(" + columns + ")" + innodb());
  };
  make("a_b", "b int");
  make("a", "b int");
  for (auto const& name : {wide, half}) make(name, column + " int, " + column + "_2 int");
  for (auto const& [name, of] : {std::pair<std::string, std::string>{"a", "b"},
                                 {wide, column},
                                 {wide, column + "_2"},
                                 {half, column}}) {
    SCOPED_TRACE(name);
    std::array const columns{of};
    database_.execute(
        daybook::tables::create_index(with(), daybook::tables::look(with(), name), columns));
    auto const after = daybook::tables::look(with(), name);
    auto const* const made = after.led_by(columns);
    ASSERT_NE(made, nullptr);
    EXPECT_TRUE(made->name.ends_with("_idx")) << made->name;
    EXPECT_LE(made->name.size(), 63U);
  }
}

DAYBOOK_ON_EVERY_ENGINE(tables);

}  // namespace
}  // namespace conformance
