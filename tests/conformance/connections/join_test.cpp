// A transaction that the application has begun by its own driver, joined.
#include "conformance/adopt.hpp"

namespace conformance {
namespace {

class join : public adoption {};

TEST_P(join, what_is_written_lives_and_dies_with_the_applications_transaction) {
  begin();
  insert_mine("mine");
  auto tx = adoption::join();
  EXPECT_EQ(tx->exec("insert into effect(name) values (:n)", "ours"), 1);
  EXPECT_EQ(tx->rows<std::int64_t>("select count(*) from effect").at(0), 2);
  EXPECT_EQ(effects("ours"), "0");
  app_.execute("rollback");
  tx.reset();
  EXPECT_EQ(database_.query("select count(*) from effect"), "0");

  begin();
  insert_mine("mine");
  tx = adoption::join();
  tx->exec("insert into effect(name) values (:n)", "ours");
  app_.execute("commit");
  EXPECT_EQ(effects("mine"), "1");
  EXPECT_EQ(effects("ours"), "1");
}

TEST_P(join, gives_the_handle_and_the_book) {
  begin();
  auto const tx = adoption::join();
  std::visit(
      [&](auto* handle) { EXPECT_EQ((tx->as<std::remove_pointer_t<decltype(handle)>>()), handle); },
      app_.native());
  EXPECT_EQ(tx->book_id(), database_.query("select book_id from daybook_version"));
  app_.execute("rollback");
}

TEST_P(join, without_a_transaction_is_refused) {
  expect_refusal(error_code::bad_argument, "no transaction is open", [&] { adoption::join(); });
  begin();
  app_.execute("rollback");
  expect_refusal(error_code::bad_argument, "no transaction is open", [&] { adoption::join(); });
}

TEST_P(join, is_over_with_the_transaction) {
  begin();
  auto tx = adoption::join();
  app_.execute("commit");
  EXPECT_THROW(tx->exec("insert into effect(name) values (:n)", "late"), daybook::error);
  EXPECT_EQ(effects("late"), "0");
  tx.reset();
  begin();
  tx = adoption::join();
  tx->exec("insert into effect(name) values (:n)", "next");
  app_.execute("commit");
  EXPECT_EQ(effects("next"), "1");
}

TEST_P(join, of_another_database_is_refused) {
  if (on_mysql()) return;  // there is one server of it
  // On MariaDB a transaction goes across the server's databases: another server, then.
  support::engine where = GetParam();
  if (where.name == "mariadb") where.environment = "DAYBOOK_TEST_MARIADB_SNAPSHOT";
  if (where.name == "mariadb_snapshot") where.environment = "DAYBOOK_TEST_MARIADB";
  support::fresh_database const other(where);
  if (on_sqlite()) other.execute("create table t(a int)");
  auto there = connect(other.url());
  there.execute("begin");
  expect_refusal(error_code::bad_argument, "another database than the book",
                 [&] { adoption::join(there); });
  there.execute("rollback");
  auto const theirs = other.open();
  there.execute("begin");
  expect_refusal(error_code::bad_argument, "another database than the book",
                 [&] { adoption::join(there); });
  there.execute("rollback");
}

TEST_P(join, of_another_database_of_the_same_mariadb_server_is_one_transaction) {
  if (!on_mariadb()) return;
  support::fresh_database const other(GetParam());
  other.execute("create table mine(a int) engine = InnoDB");
  auto there = connect(other.url());
  auto const name = database_.query("select database()");
  there.execute("begin; insert into mine values (1)");
  EXPECT_EQ(adoption::join(there)->rows<std::string>("select database()").at(0),
            there.execute("select database()"));
  there.execute("insert into " + name + ".effect(name) values ('both'); commit");
  EXPECT_EQ(effects("both"), "1");
}

TEST_P(join, of_another_engine_is_refused) {
  support::raw_connection memory("sqlite::memory:");
  memory.execute("begin immediate");
  expect_refusal(error_code::bad_argument, on_sqlite() ? "another database" : "another engine",
                 [&] { adoption::join(memory); });
}

TEST_P(join, of_an_aborted_transaction_is_refused) {
  if (!on_postgres()) return;  // elsewhere an error ends the transaction, or only the statement
  begin();
  EXPECT_THROW(app_.execute("select no_such_column"), std::runtime_error);
  expect_refusal(error_code::bad_argument, "already aborted", [&] { adoption::join(); });
  app_.execute("rollback");
  begin();
  auto const tx = adoption::join();
  EXPECT_THROW(app_.execute("select no_such_column"), std::runtime_error);
  expect_refusal(error_code::bad_argument, "already aborted",
                 [&] { tx->exec("insert into effect(name) values ('x')"); });
  app_.execute("rollback");
}

TEST_P(join, of_a_reader_is_refused) {
  if (on_sqlite()) {
    app_.execute("pragma query_only = 1");
    app_.execute("begin");
  } else {
    app_.execute("start transaction read only");
  }
  EXPECT_EQ(fault_of([&] { adoption::join(); }), error_code::read_only);
  app_.execute("rollback");
}

TEST_P(join, of_a_commit_that_may_be_lost_is_refused) {
  if (on_mariadb()) return;  // a setting of the server, which the doctor looks at
  if (on_sqlite()) app_.execute("pragma synchronous = normal");
  begin();
  if (on_postgres()) app_.execute("set local synchronous_commit = off");
  expect_refusal(error_code::configuration, on_sqlite() ? "synchronous" : "synchronous_commit",
                 [&] { adoption::join(); });
  app_.execute("rollback");
}

TEST_P(join, leaves_no_prepared_statement) {
  begin();
  auto tx = adoption::join();
  tx->exec("insert into effect(name) values (:n)", "one");
  tx.reset();
  if (on_sqlite()) {
    EXPECT_EQ(::sqlite3_next_stmt(lite(), nullptr), nullptr);
  } else if (on_postgres()) {
    EXPECT_EQ(
        app_.execute("select count(*) from pg_prepared_statements where name like 'daybook%'"),
        "0");
  } else {
    EXPECT_EQ(app_.execute(statements_prepared()), "0");
  }
  app_.execute("rollback");
}

// --- SQLite ---

TEST_P(join, makes_a_deferred_transaction_the_writer) {
  if (!on_sqlite()) return;
  app_.execute("begin");
  auto const tx = adoption::join();
  EXPECT_EQ(::sqlite3_txn_state(lite(), "main"), SQLITE_TXN_WRITE);
  app_.execute("rollback");
}

TEST_P(join, of_a_reader_that_was_overtaken_is_refused) {
  if (!on_sqlite()) return;
  app_.execute("begin; select count(*) from effect");
  database_.execute("insert into effect(name) values ('other')");
  expect_refusal(error_code::conflict, "begin it with BEGIN IMMEDIATE", [&] { adoption::join(); });
  app_.execute("rollback");
}

// --- PostgreSQL ---

TEST_P(join, of_a_connection_that_is_busy_is_refused) {
  if (!on_postgres()) return;
  begin();
  ASSERT_EQ(::PQsendQuery(pg(), "select 1"), 1);
  expect_refusal(error_code::bad_argument, "results are unread", [&] { adoption::join(); });
  while (auto* const one = ::PQgetResult(pg())) ::PQclear(one);

  ASSERT_EQ(::PQenterPipelineMode(pg()), 1);
  expect_refusal(error_code::bad_argument, "pipeline mode", [&] { adoption::join(); });
  ASSERT_EQ(::PQexitPipelineMode(pg()), 1);

  ASSERT_EQ(::PQsetnonblocking(pg(), 1), 0);
  expect_refusal(error_code::bad_argument, "does not block", [&] { adoption::join(); });
  ASSERT_EQ(::PQsetnonblocking(pg(), 0), 0);
  EXPECT_NO_THROW(adoption::join());
  app_.execute("rollback");
}

TEST_P(join, of_settings_that_change_our_texts_is_refused) {
  if (GetParam().name != "postgresql") return;
  begin();
  app_.execute("set local client_encoding = latin1");
  expect_refusal(error_code::configuration, "UTF8", [&] { adoption::join(); });
  app_.execute("set local client_encoding = utf8");
  app_.execute("set local standard_conforming_strings = off");
  expect_refusal(error_code::configuration, "standard_conforming_strings",
                 [&] { adoption::join(); });
  app_.execute("rollback");
}

TEST_P(join, works_at_every_level_of_isolation) {
  if (on_sqlite()) return;
  for (char const* const level : {"read committed", "repeatable read", "serializable"}) {
    app_.execute("set transaction isolation level " +
                 std::string(on_mariadb() ? level : "read committed"));
    app_.execute(on_mariadb() ? "begin" : "begin isolation level " + std::string(level));
    adoption::join()->exec("insert into effect(name) values (:n)", level);
    app_.execute("commit");
    EXPECT_EQ(effects(level), "1");
  }
}

// --- MariaDB ---

TEST_P(join, works_where_autocommit_is_off) {
  if (!on_mariadb()) return;
  app_.execute("set autocommit = 0");
  expect_refusal(error_code::bad_argument, "no transaction is open", [&] { adoption::join(); });
  insert_mine("mine");
  adoption::join()->exec("insert into effect(name) values (:n)", "ours");
  app_.execute("commit");
  EXPECT_EQ(effects("ours"), "1");
}

TEST_P(join, of_modes_that_change_our_statements_is_refused) {
  if (!on_mariadb()) return;
  begin();
  app_.execute("set sql_mode = ''");
  expect_refusal(error_code::configuration, "STRICT_TRANS_TABLES", [&] { adoption::join(); });
  if (!on_mysql()) {
    app_.execute("set sql_mode = 'STRICT_ALL_TABLES,EMPTY_STRING_IS_NULL'");
    expect_refusal(error_code::configuration, "EMPTY_STRING_IS_NULL", [&] { adoption::join(); });
  }
  app_.execute("set sql_mode = 'STRICT_ALL_TABLES'");
  app_.execute("set names latin1");
  expect_refusal(error_code::configuration, "utf8mb4", [&] { adoption::join(); });
  app_.execute("set names utf8mb4");
  app_.execute("set completion_type = 1");
  expect_refusal(error_code::configuration, "completion_type", [&] { adoption::join(); });
  app_.execute("set completion_type = 0");
  ::my_bool const yes = 1;
  ::my_bool const no = 0;
  ::mysql_optionsv(mysql(), MYSQL_OPT_RECONNECT, &yes);
  expect_refusal(error_code::bad_argument, "MYSQL_OPT_RECONNECT", [&] { adoption::join(); });
  ::mysql_optionsv(mysql(), MYSQL_OPT_RECONNECT, &no);
  EXPECT_NO_THROW(adoption::join());
  app_.execute("rollback");
}

TEST_P(join, of_unread_results_is_refused) {
  if (!on_mariadb()) return;
  begin();
  ASSERT_EQ(::mysql_query(mysql(), "select 1"), 0);
  expect_refusal(error_code::bad_argument, "unread", [&] { adoption::join(); });
  ::mysql_free_result(::mysql_store_result(mysql()));
  EXPECT_NO_THROW(adoption::join());
  app_.execute("rollback");
}

TEST_P(join, is_over_after_a_statement_that_commits_by_itself) {
  if (!on_mariadb()) return;
  begin();
  auto const tx = adoption::join();
  app_.execute("create table other(a int)");
  expect_refusal(error_code::bad_argument, "not any more",
                 [&] { tx->exec("insert into effect(name) values ('x')"); });
}

TEST_P(join, counts_the_rows_that_an_update_finds) {
  database_.execute("insert into effect(name) values ('one')");
  begin();
  auto const tx = adoption::join();
  EXPECT_EQ(tx->exec("update effect set name = 'one' where name = 'one'"), 1);
  EXPECT_EQ(tx->exec("update effect set name = 'one' where name = 'two'"), 0);
  app_.execute("rollback");
}

DAYBOOK_ON_EVERY_ENGINE(join);

}  // namespace
}  // namespace conformance
