// The book's version: none, older, newer; migrations done twice, at once, cut short, by hand.
#include "conformance/fixture.hpp"
#include "conformance/schema.hpp"
#include "core/admin/version.hpp"

#include <barrier>
#include <thread>

namespace conformance {
namespace {

/// A release after this one.
constexpr int newer = daybook::core::library_version + 1;

class migrate : public testing::TestWithParam<support::engine> {
 protected:
  ~migrate() override { daybook::testing::disarm(); }
  [[nodiscard]] daybook::book open() const {
    return daybook::book(database_.url(), support::fresh_database::manual());
  }
  static void expect_works(daybook::book& book) {
    auto attempt = book.start(process{"nightly"});
    ASSERT_TRUE(attempt);
    EXPECT_TRUE(std::move(attempt).take().finish());
  }
  void set_version(int version, int oldest) const {
    database_.execute("update daybook_version set version = " + std::to_string(version) +
                      ", oldest = " + std::to_string(oldest));
  }

  empty_database empty_{GetParam()};
  support::fresh_database& database_{*empty_};
};

TEST_P(migrate, without_a_book_everything_names_the_remedy) {
  auto book = open();
  auto const refused = [&](auto const& what) {
    try {
      what();
      ADD_FAILURE() << "nothing was thrown";
    } catch (daybook::error const& e) {
      EXPECT_EQ(e.kind(), error_code::configuration);
      EXPECT_NE(std::string(e.what()).find("no book here"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("daybook migrate up"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find(book.url()), std::string::npos) << e.what();
    }
  };
  refused([&] { static_cast<void>(book.start(process{"nightly"})); });
  refused([&] { static_cast<void>(book.runs()); });
  refused([&] { static_cast<void>(book.find(process{"nightly"}, {})); });
  refused([&] { static_cast<void>(book.attach("1.2")); });
  refused([&] { static_cast<void>(daybook::testing::renew(book)); });
  book.transact([](transaction& tx) { tx.exec("select 1"); });
  EXPECT_FALSE(book.doctor().empty());
  EXPECT_EQ(tables_of(GetParam(), database_), "");
  ASSERT_FALSE(book.migrations().empty());
  EXPECT_FALSE(book.migrations()[0].applied);
  book.migrate();
  EXPECT_TRUE(book.migrations()[0].applied);
  expect_works(book);
}

TEST_P(migrate, twice_is_once) {
  auto book = database_.open();
  auto const id = database_.query("select book_id from daybook_version");
  expect_works(book);
  book.migrate();
  database_.open().migrate();
  EXPECT_EQ(database_.query("select book_id from daybook_version"), id);
  EXPECT_EQ(database_.query("select count(*) from daybook_version"), "1");
  EXPECT_EQ(book.runs().size(), 1U);
}

TEST_P(migrate, an_older_book_wants_to_be_migrated) {
  static_cast<void>(database_.open());
  set_version(0, 0);
  auto book = open();
  EXPECT_EQ(fault_of([&] { static_cast<void>(book.runs()); }), error_code::configuration);
  book.migrate();
  expect_works(book);
  EXPECT_EQ(database_.query("select version from daybook_version"), std::to_string(newer - 1));
}

TEST_P(migrate, a_newer_book_that_allows_this_release_works) {
  static_cast<void>(database_.open());
  set_version(newer, 1);
  auto book = open();
  expect_works(book);
  book.migrate();
  EXPECT_EQ(database_.query("select version from daybook_version"), std::to_string(newer));
}

TEST_P(migrate, a_newer_book_that_does_not_is_refused_with_both_versions) {
  static_cast<void>(database_.open());
  set_version(newer, newer);
  auto book = open();
  for (bool const by_migrate : {false, true}) {
    auto const text = message_of(
        [&] { by_migrate ? book.migrate() : static_cast<void>(book.start(process{"nightly"})); });
    EXPECT_NE(text.find("of version " + std::to_string(newer)), std::string::npos) << text;
    EXPECT_NE(text.find("of version " + std::to_string(newer - 1)), std::string::npos) << text;
    EXPECT_NE(text.find("newer Daybook"), std::string::npos) << text;
  }
  EXPECT_EQ(database_.query("select version from daybook_version"), std::to_string(newer));
}

TEST_P(migrate, several_at_once) {
  for (int round = 0; round < 3; ++round) {
    auto options = support::fresh_database::manual();
    options.prefix = "round" + std::to_string(round) + "_";
    constexpr int threads = 3;
    std::barrier together(threads);
    {
      std::vector<std::jthread> all;
      for (int i = 0; i < threads; ++i) {
        all.emplace_back([&] {
          try {
            daybook::book book(database_.url(), options);
            together.arrive_and_wait();
            book.migrate();
          } catch (std::exception const& e) {
            ADD_FAILURE() << e.what();
          }
        });
      }
    }
    auto book = database_.open(options);
    EXPECT_EQ(
        database_.query("select count(*) from " + options.prefix + "version where version = " +
                        std::to_string(book.migrations().back().version)),
        "1");
    expect_works(book);
  }
}

TEST_P(migrate, cut_short_is_completed_by_the_next) {
  for (std::string const where : {"begun", "before_commit", "committed"}) {
    for (auto const action : {failpoint_action::cut, failpoint_action::fail}) {
      SCOPED_TRACE(where);
      auto options = support::fresh_database::manual();
      options.prefix = where + std::to_string(static_cast<int>(action)) + "_";
      daybook::book book(database_.url(), options);
      daybook::testing::arm("migrate." + where, action);
      if (action == failpoint_action::fail) {
        EXPECT_EQ(fault_of([&] { book.migrate(); }), error_code::internal);
        if (where != "committed") {
          EXPECT_EQ(fault_of([&] { static_cast<void>(book.runs()); }), error_code::configuration);
        }
      }
      book.migrate();
      daybook::testing::disarm();
      expect_works(book);
    }
  }
}

TEST_P(migrate, half_of_the_tables_are_completed) {
  // As MariaDB leaves it, which commits each table by itself.
  auto book = open();
  auto const text = book.migrations().at(0).text;
  database_.execute(text.substr(0, text.find("create table if not exists", text.size() / 2)));
  EXPECT_EQ(fault_of([&] { static_cast<void>(book.runs()); }), error_code::configuration);
  book.migrate();
  expect_works(book);
}

TEST_P(migrate, each_statement_may_be_the_last_one_done) {
  auto options = support::fresh_database::manual();
  daybook::book first(database_.url(), options);
  // Elsewhere a migration is one transaction, and nothing of it stays.
  if (first.dialect() != "mysql") return;
  std::size_t cuts = 0;
  // Of the last two: a migration of one column has few statements.
  for (std::size_t before = first.migrations().size() - 2; before < first.migrations().size();
       ++before) {
    for (std::size_t end = 0; end != std::string::npos; ++cuts) {
      options.prefix = "cut" + std::to_string(cuts) + "_";
      daybook::book book(database_.url(), options);
      auto const all = book.migrations();
      for (std::size_t i = 0; i < before; ++i) database_.execute(all[i].text);
      auto const& text = all[before].text;
      end = text.find(";\n", end == 0 ? 0 : end + 1);
      database_.execute(end == std::string::npos ? text : text.substr(0, end + 1));
      book.migrate();
      expect_works(book);
    }
  }
  EXPECT_GT(cuts, 4) << "statements";
}

TEST_P(migrate, the_printed_text_makes_the_same_tables) {
  support::fresh_database const by_hand(GetParam());
  daybook::book book(by_hand.url(), support::fresh_database::manual());
  std::string all;
  for (auto const& one : book.migrations()) {
    EXPECT_FALSE(one.name.empty());
    EXPECT_EQ(one.text.find('{'), std::string::npos) << one.text;
    EXPECT_TRUE(std::all_of(one.text.begin(), one.text.end(),
                            [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
    all += one.text;
  }
  by_hand.execute(all);
  static_cast<void>(database_.open());
  EXPECT_EQ(tables_of(GetParam(), by_hand), tables_of(GetParam(), database_));
  // The tables alone are no book yet: who made them by hand says so with migrate().
  EXPECT_EQ(by_hand.query("select count(*) from daybook_version"), "0");
  EXPECT_EQ(fault_of([&] { static_cast<void>(book.runs()); }), error_code::configuration);
  book.migrate();
  expect_works(book);
  EXPECT_EQ(tables_of(GetParam(), by_hand), tables_of(GetParam(), database_));
}

TEST_P(migrate, the_tables_are_as_reviewed) {
  if (GetParam().name == "mysql")
    return;  // the statements are MariaDB's, and it writes the types in its own way
  static_cast<void>(database_.open());
  golden("schema." + std::string(open().dialect()) + ".txt", tables_of(GetParam(), database_));
}

DAYBOOK_ON_EVERY_ENGINE(migrate);

}  // namespace
}  // namespace conformance
