// A connection of the pool serves everybody: what a step's body sets on its session is gone with
// the step, and the COMMIT that carries a record is durable whatever the body has set.
#include "conformance/fixture.hpp"

#include <libpq-fe.h>
#include <mysql.h>

namespace conformance {
namespace {

class session_settings : public on_engine {
 protected:
  static std::string shown(transaction& tx, std::string& to) {
    to = tx.rows<std::string>("select current_setting('synchronous_commit')").at(0);
    return to;
  }
  /// Ways to set it, each in a step of its own.
  static std::vector<std::function<void(transaction&)>> ways() {
    return {
        [](transaction& tx) { tx.exec("set synchronous_commit = off"); },
        [](transaction& tx) { tx.exec("set local synchronous_commit = off"); },
        [](transaction& tx) {
          static_cast<void>(
              tx.rows<std::string>("select set_config('synchronous_commit', 'off', false)"));
        },
        [](transaction& tx) { static_cast<void>(tx.rows<std::int64_t>("select weaken()")); },
        [](transaction& tx) { tx.exec("insert into weakening values (1)"); },
        [](transaction& tx) {
          ::PQclear(::PQexec(tx.as<::pg_conn>(), "set synchronous_commit = off"));
        },
    };
  }
};

TEST_P(session_settings, a_step_is_durable_whatever_it_has_set) {
  if (!on_postgres()) return;
  database_.execute(
      "create function weaken() returns bigint language plpgsql as "
      "$$ begin perform set_config('synchronous_commit', 'off', false); return 1; end $$;"
      "create function weaken_row() returns trigger language plpgsql as "
      "$$ begin perform set_config('synchronous_commit', 'off', false); return new; end $$;"
      "create table weakening(i int);"
      "create trigger weakens before insert on weakening for each row execute function "
      "weaken_row()");
  auto run = taken(book_.start(nightly_, day_));
  int at = 0;
  for (auto const& way : ways()) {
    std::string written, after;
    EXPECT_TRUE(run.step("set " + std::to_string(++at), [&](transaction& tx) {
      insert("one")(tx);
      way(tx);
      written = tx.rows<std::string>("select pg_current_wal_insert_lsn()::text").at(0);
    }));
    // On disk by now, not a little later. The COMMIT stands behind what was written before it.
    EXPECT_EQ(database_.query("select pg_current_wal_flush_lsn() > '" + written + "'::pg_lsn"), "t")
        << at;
    EXPECT_TRUE(
        run.step("look " + std::to_string(at), [&](transaction& tx) { return shown(tx, after); }));
    EXPECT_EQ(after, "on") << at;
  }
  EXPECT_TRUE(std::move(run).finish());
}

TEST_P(session_settings, the_next_step_finds_a_session_as_it_was_connected) {
  if (GetParam().name == "pgbouncer") return;  // a session there is the pooler's to look after
  auto run = taken(book_.start(nightly_, day_));
  std::string first, second;
  auto const look = [&](std::string& to) {
    return [&](transaction& tx) {
      to =
          on_postgres()
              ? tx.rows<std::string>(
                      "select current_setting('search_path') || current_setting('lock_timeout') || "
                      "current_setting('TimeZone') || (select count(*) from pg_class where relname "
                      "= 'leftover')")
                    .at(0)
          : on_mariadb() ? tx.rows<std::string>(
                                 "select concat(@@foreign_key_checks, @@unique_checks, "
                                 "@@sql_mode, @@time_zone, @@innodb_lock_wait_timeout, "
                                 "coalesce(@mine, 'null'), database())")
                               .at(0)
                         : std::to_string(tx.rows<std::int64_t>("pragma query_only").at(0));
    };
  };
  EXPECT_TRUE(run.step("before", look(first)));
  EXPECT_TRUE(run.step("set", [&](transaction& tx) {
    insert("set")(tx);
    if (on_postgres()) {
      tx.exec("set search_path = nowhere");
      tx.exec("set lock_timeout = 1");
      tx.exec("set timezone = 'Asia/Tokyo'");
      tx.exec("create temp table leftover(i int)");
    } else if (on_mariadb()) {
      tx.exec("set foreign_key_checks = 0, unique_checks = 0, @mine = 'mine'");
      tx.exec("set sql_mode = '', time_zone = '+09:00', innodb_lock_wait_timeout = 1");
      tx.exec("use mysql");
    }
  }));
  if (on_sqlite()) {
    book_.transact([](transaction& tx) { tx.exec("pragma query_only = on"); });
  }
  EXPECT_TRUE(run.step("after", look(second)));
  EXPECT_EQ(first, second);
  // Also what is prepared is there, or is made again.
  for (int at = 0; at < 3; ++at) {
    EXPECT_TRUE(run.step("more " + std::to_string(at), insert("more")));
  }
  EXPECT_EQ(effects("more"), "3");
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_EQ(log_.count("retried"), 0U);
}

TEST_P(session_settings, prepared_statements_that_a_body_drops_are_made_again) {
  if (GetParam().name != "postgresql") return;
  auto run = taken(book_.start(nightly_, day_));
  for (int at = 0; at < 3; ++at) {
    EXPECT_TRUE(run.step("one " + std::to_string(at), insert("one")));
    book_.transact(
        [](transaction& tx) { ::PQclear(::PQexec(tx.as<::pg_conn>(), "deallocate all")); });
  }
  EXPECT_TRUE(std::move(run).finish());
  EXPECT_EQ(log_.count("retried"), 0U);
}

TEST_P(session_settings, a_clock_that_a_step_sets_ends_no_lease) {
  if (!on_mariadb()) return;
  database_.execute(
      "create function tomorrow() returns int deterministic begin set timestamp = "
      "unix_timestamp() + 86400; return 1; end");
  auto other = database_.open();
  auto const theirs = taken(other.start(nightly_, key{"theirs"}));
  auto const set_clock = [](transaction& tx) {
    tx.exec("set timestamp = unix_timestamp() + 86400");
  };
  auto const call = [](transaction& tx) {
    static_cast<void>(tx.rows<std::int64_t>("select tomorrow()"));
  };
  auto const by_hand = [](transaction& tx) {
    ::mysql_query(tx.as<::MYSQL>(), "set timestamp = unix_timestamp() + 86400");
  };
  std::vector<std::function<void(transaction&)>> const ways{set_clock, call, by_hand};
  for (std::size_t at = 0; at < ways.size(); ++at) {
    auto run = taken(book_.start(nightly_, key{std::to_string(at)}, {.deadline = 1h}));
    // Its own record goes by the true clock, too.
    EXPECT_TRUE(run.step("set", ways[at])) << at;
    EXPECT_EQ(book_.start(nightly_, key{"theirs"}).why(), start_refusal::running_elsewhere) << at;
    EXPECT_TRUE(run.step("look", [](transaction& tx) {
      EXPECT_EQ(tx.rows<std::int64_t>("select abs(timestampdiff(second, now(), sysdate())) > 60"),
                std::vector<std::int64_t>{0});
    }));
    EXPECT_TRUE(std::move(run).finish());
  }
}

TEST_P(session_settings, a_connection_whose_clock_is_set_is_not_taken) {
  if (!on_mariadb()) return;
  support::raw_connection app(database_.url());
  app.execute("set names utf8mb4");
  app.execute("set timestamp = 1000");
  auto& handle = *std::get<::st_mysql*>(app.native());
  EXPECT_EQ(
      fault_of([&] { static_cast<void>(daybook::book::adopt_connection(handle, watched())); }),
      error_code::configuration);
}

DAYBOOK_ON_EVERY_ENGINE(session_settings);

}  // namespace
}  // namespace conformance
