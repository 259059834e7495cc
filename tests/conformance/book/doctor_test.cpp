// The doctor: all is well on the test servers, and each rule that a test can break is told.
#include "conformance/adopt.hpp"

#include <map>

namespace conformance {
namespace {

using daybook::severity;

class doctor : public adoption {
 protected:
  using findings = std::map<std::string, daybook::check_result>;

  static findings of(daybook::book const& book) {
    findings out;
    for (auto const& one : book.doctor()) {
      EXPECT_TRUE(out.emplace(one.name, one).second) << one.name << " is there twice";
    }
    return out;
  }
  findings now() const { return of(book_); }

  static void expect(findings const& in, std::string const& name, severity worth,
                     std::string const& shows) {
    auto const found = in.find(name);
    ASSERT_NE(found, in.end()) << name;
    EXPECT_EQ(found->second.severity, worth) << name << ": " << found->second.found;
    EXPECT_NE(found->second.found.find(shows), std::string::npos) << found->second.found;
    EXPECT_EQ(found->second.remedy.empty(), worth == severity::ok) << found->second.remedy;
  }
  /// Changes the settings of the server, and puts them back.
  class changed {
   public:
    changed(std::string server, std::string const& to, std::string back)
        : server_(std::move(server)), back_(std::move(back)) {
      support::raw_connection(server_).execute(to);
    }
    changed(changed const&) = delete;
    changed& operator=(changed const&) = delete;
    ~changed() { support::raw_connection(server_).execute(back_); }

   private:
    std::string server_;
    std::string back_;
  };
  [[nodiscard]] std::string admin() const {
    return std::getenv((GetParam().environment + "_ADMIN").c_str());
  }
};

TEST_P(doctor, finds_the_test_servers_well) {
  // What is expected to be warned of, and nothing else.
  std::map<std::string, std::string> expected;
  if (on_sqlite() && sqlite3_libversion_number() < 3051003) {
    expected["library version"] = "sqlite_version_number = ";
  }
  // Only a monitoring role sees standbys; the account of the tests is none, and has none to see.
  for (auto const& [name, one] : now()) {
    if (expected.contains(name)) {
      EXPECT_EQ(one.severity, severity::warning);
      EXPECT_TRUE(one.found.starts_with(expected[name])) << one.found;
      EXPECT_FALSE(one.remedy.empty());
    } else {
      EXPECT_EQ(one.severity, severity::ok) << name << ": " << one.found << ": " << one.remedy;
    }
  }
  EXPECT_GE(now().size(), 7U);
}

TEST_P(doctor, without_a_book) {
  support::fresh_database const fresh(GetParam());
  daybook::book const book(fresh.url(), support::fresh_database::manual());
  auto const found = of(book);
  expect(found, "book", severity::failed, "none");
  EXPECT_NE(found.at("book").remedy.find("daybook migrate up"), std::string::npos);
}

TEST_P(doctor, with_a_book_of_another_version) {
  database_.execute("update daybook_version set version = 8, oldest = 8");
  expect(now(), "book", severity::failed, "version 8");
}

TEST_P(doctor, with_a_book_whose_tables_are_not_all_there) {
  expect(now(), "tables", severity::ok, "");
  database_.execute("drop table daybook_step");
  database_.execute("drop table daybook_watch");
  auto const found = now();
  expect(found, "tables", severity::failed, "missing: daybook_step, daybook_watch");
  EXPECT_NE(found.at("tables").remedy.find("back-up"), std::string::npos);
  expect(found, "book", severity::ok, "version");
}

/// On a connection of the application's, for ours are set up anew after whoever has changed them.
TEST_P(doctor, of_sqlite) {
  if (!on_sqlite()) return;
  { auto const closed = std::move(book_); }  // else the journal's mode could not be changed
  auto const mine = adopt_connection();
  app_.execute("attach ':memory:' as other");
  expect(of(mine), "one file", severity::failed, "attached = 1");
  app_.execute("detach other");
  app_.execute("pragma synchronous = normal");
  expect(of(mine), "durable commit", severity::failed, "synchronous = 1");
  app_.execute("pragma synchronous = extra");
  expect(of(mine), "durable commit", severity::ok, "synchronous = 3");
  app_.execute("pragma journal_mode = delete");
  expect(of(mine), "write-ahead log", severity::warning, "journal_mode = delete");
}

TEST_P(doctor, of_postgresql_settings_of_the_database) {
  if (!on_postgres()) return;
  support::fresh_database const fresh(GetParam());
  fresh.execute(
      "do $$ begin execute 'alter database ' || current_database() || ' set "
      "synchronous_commit = off'; end $$");
  expect(of(fresh.open()), "durable commit", severity::failed, "synchronous_commit = off");
  fresh.execute(
      "do $$ begin execute 'alter database ' || current_database() || ' set "
      "synchronous_commit = local'; end $$");
  if (GetParam().name == "pgbouncer") return;  // its connections keep what they began with
  expect(of(fresh.open()), "durable commit", severity::ok, "synchronous_commit = local");
}

TEST_P(doctor, of_an_encoding_that_is_not_utf8) {
  if (!on_postgres()) return;
  std::string const server = std::getenv("DAYBOOK_TEST_POSTGRESQL");
  auto const name = "ascii_" + std::to_string(::getpid());
  changed const made(server,
                     "create database " + name +
                         " template template0 encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C'",
                     "drop database " + name + " with (force)");
  auto const& url = database_.url();
  daybook::book book(url.substr(0, url.rfind('/') + 1) + name, watched());
  expect(of(book), "encoding", severity::warning, "server_encoding = SQL_ASCII");
}

TEST_P(doctor, of_mariadb_tables) {
  if (!on_mariadb()) return;
  database_.execute("alter table daybook_step engine = MyISAM");
  expect(now(), "InnoDB only", severity::failed, "daybook_step MyISAM");
  database_.execute("alter table daybook_step engine = InnoDB");
  expect(now(), "InnoDB only", severity::ok, "");
}

TEST_P(doctor, of_mariadb_sessions) {
  if (!on_mariadb()) return;
  auto const mine = adopt_connection();
  app_.execute("set session sql_mode = ''");
  expect(of(mine), "strict mode", severity::failed, "sql_mode = ");
  app_.execute("set session time_zone = '+01:00'");
  expect(of(mine), "time zone", severity::failed, "time_zone = +01:00");
  app_.execute("set session transaction isolation level repeatable read");
  expect(of(mine), "isolation", severity::warning, "REPEATABLE-READ");
}

TEST_P(doctor, of_mariadb_servers) {
  if (!on_mariadb()) return;
  {
    changed const by(admin(), "set global innodb_flush_log_at_trx_commit = 2",
                     "set global innodb_flush_log_at_trx_commit = 1");
    expect(now(), "durable commit", severity::failed, "innodb_flush_log_at_trx_commit = 2");
  }
  {
    changed const by(admin(), "set global binlog_format = STATEMENT",
                     "set global binlog_format = MIXED");
    EXPECT_FALSE(now().contains("binary log")) << "the server of the tests has none";
  }
  {
    changed const by(admin(), "set global read_only = 1", "set global read_only = 0");
    expect(now(), "writable", severity::failed, "read_only = ");
    auto const refused = [&] {
      auto options = watched();
      options.lease = 1s;
      daybook::book book(database_.url(), options);
      static_cast<void>(book.start(nightly_, day_));
    };
    EXPECT_EQ(fault_of(refused), error_code::read_only);
  }
  EXPECT_TRUE(book_.start(nightly_, day_));
}

DAYBOOK_ON_EVERY_ENGINE(doctor);

}  // namespace
}  // namespace conformance
