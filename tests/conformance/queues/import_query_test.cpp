// Members from a query of the application's.
#include "conformance/watching.hpp"

namespace conformance {
namespace {

using daybook::import_report;
using daybook::queue;

class imported_query : public watching {
 protected:
  imported_query() : stock_(book_.make_queue("stock")) {}

  /// A query of `count` numbers from 1.
  [[nodiscard]] std::string numbers(int count, std::string const& columns) const {
    auto const n = std::to_string(count);
    if (on_mariadb())
      return "select " + columns + " from (select seq as i from " + numbers_table(1, count) + ") s";
    return "with recursive n(i) as (select 1 union all select i + 1 from n where i < " + n +
           ") select " + columns + " from n";
  }

  queue stock_;
};

TEST_P(imported_query, a_hundred_thousand_rows_page_by_page) {
  stock_.add(key("7"), {.payload = "mine"});
  std::vector<std::int64_t> told;
  auto const found = stock_.import_query(numbers(100'000, "i, case when i = 9 then 'nine' end"), {},
                                         [&](import_report const& so_far) {
                                           told.push_back(so_far.added + so_far.present);
                                           return true;
                                         });
  EXPECT_EQ(found.added, 99'999);
  EXPECT_EQ(found.present, 1);
  EXPECT_EQ(told.size(), 10U);
  EXPECT_EQ(told.back(), 100'000);
  EXPECT_EQ(stock_.counts().members, 100'000);
  EXPECT_EQ(stock_.find(key("9")).value().payload, "nine");
  EXPECT_EQ(stock_.find(key("10")).value().payload, std::nullopt);
  EXPECT_EQ(stock_.find(key("7")).value().payload, "mine");
  expect_covered();
  auto const again = stock_.import_query(numbers(500, "i"));
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(again.present, 500);
}

TEST_P(imported_query, who_is_told_may_end_it) {
  auto const found = stock_.import_query(numbers(50'000, "i"), {},
                                         [](auto const& so_far) { return so_far.added < 20'000; });
  EXPECT_EQ(found.added, 20'000);
  EXPECT_EQ(stock_.counts().members, 20'000);
  EXPECT_EQ(stock_.import_query(numbers(10, "i")).present, 10) << "and begin anew";
}

TEST_P(imported_query, values_of_every_kind_are_keys_as_a_watch_has_them) {
  std::string const uuid = on_sqlite() ? "text" : on_mysql() ? "char(36)" : "uuid";
  database_.execute("create table kinds(n bigint not null unique, u " + uuid +
                    " not null unique, d date not null unique, c char(8) not null unique)" +
                    innodb());
  database_.execute(
      "insert into kinds values (-12, '01234567-89ab-4def-8123-456789abcdef', "
      "'2026-02-28', 'a b')");
  for (auto const* column : {"n", "u", "d", "c"}) {
    EXPECT_EQ(stock_.import_query("select " + std::string(column) + " from kinds").added, 1);
    auto watch = stock_.follow({.table = "kinds", .key = column});
    auto const drift = watch.compare();
    EXPECT_EQ(drift.missing, 0) << column;
  }
  EXPECT_EQ(members(), (set{"-12", "01234567-89ab-4def-8123-456789abcdef", "2026-02-28", "a b"}));
}

TEST_P(imported_query, options_are_of_each) {
  stock_.import_query(numbers(3, "i") + " -- and a comment", {.priority = 2});
  EXPECT_EQ(stock_.find(key("2")).value().priority, 2);
  EXPECT_EQ(drain(stock_), 3);
}

TEST_P(imported_query, a_payload_of_any_kind_is_text) {
  stock_.import_query("select 'a', 1.5 union all select 'b', -7");
  EXPECT_EQ(stock_.find(key("a")).value().payload, "1.5");
  EXPECT_EQ(stock_.find(key("b")).value().payload->substr(0, 2), "-7");
}

TEST_P(imported_query, only_a_query_is_executed) {
  database_.execute(adding("a,b"));
  std::string const quiet = on_sqlite() ? "" : " returning code";
  for (auto const& text : std::vector<std::string>{
           "delete from product", "delete from product" + quiet,
           "select code from product; delete from product",
           "select code from product) as q; delete from product; --",
           "with gone as (delete from product returning code) select code from gone",
           "drop table product", "update product set code = 'z'", "", "select", "commit",
           "select code from product where code = :mine", "select nothing from product"}) {
    EXPECT_EQ(fault_of([&] { stock_.import_query(text); }), error_code::bad_argument) << text;
    EXPECT_NE(message_of([&] { stock_.import_query(text); }).find("queue 'stock'"),
              std::string::npos)
        << text;
  }
  EXPECT_EQ(database_.query("select count(*) from product"), "2");
  EXPECT_EQ(stock_.counts().members, 0);
  auto const wide = message_of([&] { stock_.import_query("select 1, 2, 3"); });
  EXPECT_NE(wide.find("it has 3 columns"), std::string::npos) << wide;
}

TEST_P(imported_query, what_can_be_no_key_is_named_with_its_row) {
  auto const null = message_of([&] { stock_.import_query("select 'a' union all select null"); });
  EXPECT_NE(null.find("queue 'stock': the query to import from: row 2"), std::string::npos) << null;
  EXPECT_NE(null.find("null"), std::string::npos) << null;
  EXPECT_TRUE(stock_.find(key("a"))) << "what stands before it is imported";
  auto const wide = "select 'a' union all select '" + std::string(256, 'x') + "'";
  auto const longer = message_of([&] { stock_.import_query(wide); });
  EXPECT_NE(longer.find("row 2"), std::string::npos) << longer;
  EXPECT_NE(longer.find("256 bytes"), std::string::npos) << longer;
  auto const empty = message_of([&] { stock_.import_query("select ''"); });
  EXPECT_NE(empty.find("row 1"), std::string::npos) << empty;
  EXPECT_EQ(fault_of([&] { stock_.import_query("select ''"); }), error_code::bad_argument);
  EXPECT_EQ(stock_.import_query("select 'b' union all select 'b'").present, 1) << "twice is once";
}

// Staged where an engine has no cursors: then it fails as it is opened, with half of it staged.
TEST_P(imported_query, one_that_fails_on_its_way_leaves_nothing_behind) {
  std::string const fails = on_sqlite()    ? "abs(-9223372036854775807 - (i = 5150))"
                            : on_mariadb() ? "9223372036854775807 + (i = 5150)"
                                           : "1 / (i - 5150)";
  for (int i = 0; i < 3; ++i) {
    auto const said = message_of([&] { stock_.import_query(numbers(6'000, "i, " + fails)); });
    EXPECT_NE(said.find("queue 'stock': the query to import from"), std::string::npos) << said;
    EXPECT_EQ(fault_of([&] { stock_.import_query(numbers(6'000, "i, " + fails)); }),
              error_code::bad_argument);
    auto const after = "select 'after " + std::to_string(i) + "'";
    EXPECT_EQ(stock_.import_query(after).added, 1);
  }
}

TEST_P(imported_query, large_payloads_come_in_small_pages) {
  std::string const payload = on_sqlite() ? "hex(zeroblob(300000))" : "repeat('x', 600000)";
  int pages = 0;
  auto const found = stock_.import_query(numbers(60, "i, " + payload), {}, [&](auto const&) {
    ++pages;
    return true;
  });
  EXPECT_EQ(found.added, 60);
  EXPECT_GE(pages, 6);
  EXPECT_EQ(stock_.find(key("60")).value().payload->size(), 600'000U);
}

TEST_P(imported_query, on_the_one_handle_of_an_application) {
  support::raw_connection app(direct_url());
  if (on_mariadb()) app.execute("set names utf8mb4");
  auto mine = std::visit(
      [&](auto* handle) {
        return daybook::book::adopt_connection(*handle, support::fresh_database::manual());
      },
      app.native());
  auto queue = mine.queue("stock").value();
  EXPECT_EQ(queue.import_query(numbers(25'000, "i, 'x'")).added, 25'000);
  EXPECT_EQ(fault_of([&] { queue.import_query("select null"); }), error_code::bad_argument);
  EXPECT_EQ(queue.import_query(numbers(10, "i")).present, 10);
  EXPECT_EQ(stock_.counts().members, 25'000);
}

DAYBOOK_ON_EVERY_ENGINE(imported_query);

}  // namespace
}  // namespace conformance
