// What the rooms of this suite share: an empty database, a book in it whose clock is moved by
// hand, a table for the effects of steps, and a record of what the observer was told.
#pragma once

#include "support/engines.hpp"

#include <daybook/daybook.hpp>
#include <daybook/testing.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace conformance {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using daybook::error_code;
using daybook::key;
using daybook::outcome;
using daybook::process;
using daybook::run_state;
using daybook::start_refusal;
using daybook::transaction;
using daybook::testing::failpoint_action;

/// Every event as one line: "started nightly/2026-11-21 1.1".
class recorder final : public daybook::observer {
 public:
  void started(daybook::run_event const& e) noexcept override { add("started", e); }
  void step_done(daybook::run_event const& e) noexcept override { add("step_done", e); }
  void finished(daybook::run_event const& e) noexcept override { add("finished", e); }
  void failed(daybook::run_event const& e) noexcept override { add("failed", e); }
  void released(daybook::run_event const& e) noexcept override { add("released", e); }
  void lost(daybook::run_event const& e) noexcept override { add("lost", e); }
  void taken_over(daybook::run_event const& e) noexcept override { add("taken_over", e); }
  void renewal_late(std::chrono::milliseconds since, std::string_view why) noexcept override {
    add("renewal_late " + std::to_string(since.count()) + " " + std::string(why));
  }
  void retried(std::string_view transaction, std::string_view) noexcept override {
    add("retried " + std::string(transaction));
    if (on_retry) on_retry();
  }
  void doubt_resolved(std::string_view transaction, bool committed) noexcept override {
    add("doubt_resolved " + std::string(transaction) + (committed ? " yes" : " no"));
  }
  void set_back() noexcept override { add("set_back"); }
  void tick_failed(daybook::run_event const& e) noexcept override { add("tick_failed", e); }
  void unknown(daybook::run_event const& e) noexcept override { add("unknown", e); }
  void task_failed(daybook::task_event const& e) noexcept override { add("task_failed", e); }
  void task_dead(daybook::task_event const& e) noexcept override { add("task_dead", e); }
  void task_unknown(daybook::task_event const& e) noexcept override { add("task_unknown", e); }
  void timed(std::string_view transaction, std::chrono::microseconds) noexcept override {
    add("timed " + std::string(transaction));
  }

  /// Something to do, to another book, between two tries of a transaction.
  std::function<void()> on_retry;

  /// How many lines start so.
  [[nodiscard]] std::size_t count(std::string_view start) const {
    std::lock_guard const lock(guard_);
    return static_cast<std::size_t>(
        std::count_if(lines_.begin(), lines_.end(),
                      [&](std::string const& line) { return line.starts_with(start); }));
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::lock_guard const lock(guard_);
    return lines_;
  }

 private:
  void add(std::string line) {
    std::lock_guard const lock(guard_);
    lines_.push_back(std::move(line));
  }
  void add(std::string_view what, daybook::run_event const& e) {
    add(std::string(what) + " " + std::string(e.process) + "/" + std::string(e.key) +
        (e.step.empty() ? "" : ":" + std::string(e.step)) + " " + std::to_string(e.number) + "." +
        std::to_string(e.attempt) + (e.text.empty() ? "" : " " + std::string(e.text)));
  }
  void add(std::string_view what, daybook::task_event const& e) {
    add(std::string(what) + " " + std::string(e.queue) + "/" + std::string(e.key) + " " +
        std::to_string(e.attempts) + "." + std::to_string(e.crashes) +
        (e.text.empty() ? "" : " " + std::string(e.text)));
  }

  mutable std::mutex guard_;
  std::vector<std::string> lines_;
};

/// Dropped before main ends, for what is static in the client libraries may go first.
class shared_databases final : public testing::Environment {
 public:
  static std::map<std::string, std::unique_ptr<support::fresh_database>>& all() {
    static std::map<std::string, std::unique_ptr<support::fresh_database>> kept;
    return kept;
  }
  void TearDown() override { all().clear(); }
};
inline testing::Environment* const drops_shared_databases =
    testing::AddGlobalTestEnvironment(new shared_databases);

/// An empty database. PostgreSQL takes half a second to make and to drop one, so that its tests
/// share one, whose tables are dropped in between.
class empty_database {
 public:
  explicit empty_database(support::engine const& on) {
    if (on.name != "postgresql" && on.name != "pgbouncer") {
      own_ = std::make_unique<support::fresh_database>(on);
      return;
    }
    auto& of_engine = shared_databases::all()[on.name];
    if (!of_engine) of_engine = std::make_unique<support::fresh_database>(on);
    of_engine->execute("drop schema public cascade; create schema public");
    shared_ = of_engine.get();
  }
  [[nodiscard]] support::fresh_database& operator*() const { return own_ ? *own_ : *shared_; }

 private:
  std::unique_ptr<support::fresh_database> own_;
  support::fresh_database* shared_ = nullptr;
};

class on_engine : public testing::TestWithParam<support::engine> {
 protected:
  explicit on_engine(std::chrono::milliseconds lease = daybook::book_options().lease)
      : empty_(GetParam()), database_(*empty_), book_(database_.open(watched(lease))) {
    database_.execute("create table effect(name varchar(40) not null)" + innodb());
  }
  ~on_engine() override { daybook::testing::disarm(); }

  [[nodiscard]] daybook::book_options watched(
      std::chrono::milliseconds lease = daybook::book_options().lease) {
    auto options = support::fresh_database::manual();
    options.observer = &log_;
    options.lease = lease;
    return options;
  }
  [[nodiscard]] bool on_sqlite() const { return GetParam().name == "sqlite"; }
  [[nodiscard]] bool on_postgres() const {
    return GetParam().name == "postgresql" || GetParam().name == "pgbouncer";
  }
  /// MariaDB or MySQL: one dialect, and nearly one SQL.
  [[nodiscard]] bool on_mariadb() const {
    return GetParam().name.starts_with("mariadb") || on_mysql();
  }
  [[nodiscard]] bool on_mysql() const { return GetParam().name == "mysql"; }
  /// What shows how the engine would execute the statement that follows.
  [[nodiscard]] char const* explain() const {
    return on_sqlite()  ? "explain query plan "
           : on_mysql() ? "explain format=traditional "
                        : "explain ";
  }
  /// Where MariaDB or MySQL keeps what it counts.
  [[nodiscard]] std::string statuses() const {
    return on_mysql() ? "performance_schema" : "information_schema";
  }
  /// Of MariaDB or MySQL: how many this connection has, and has not closed.
  [[nodiscard]] std::string statements_prepared() const {
    return on_mysql()
               ? "select count(*) from performance_schema.prepared_statements_instances s join "
                 "performance_schema.threads t on t.thread_id = s.owner_thread_id where "
                 "t.processlist_id = connection_id()"
               : "select sum(if(variable_name = 'COM_STMT_CLOSE', -1, 1) * variable_value) from "
                 "information_schema.session_status where variable_name in ('COM_STMT_CLOSE', "
                 "'COM_STMT_PREPARE')";
  }
  /// Of MariaDB or MySQL: it goes on for hours, and has no row.
  [[nodiscard]] std::string endless_query() const {
    return "select a.seq from " +
           (on_mysql()
                ? "(with recursive n(seq) as (select 1 union all select seq + 1 from n where "
                  "seq < 1000000) select seq from n) as a, (with recursive n(seq) as (select 1 "
                  "union all select seq + 1 from n where seq < 1000000) select seq from n) as b "
                : std::string("seq_1_to_1000000 a, seq_1_to_1000000 b ")) +
           "where a.seq + b.seq < 0";
  }
  /// A table of MariaDB or MySQL: `seq`, the numbers from the first to the last.
  [[nodiscard]] std::string numbers_table(long long first, long long last) const {
    auto const from = std::to_string(first);
    auto const to = std::to_string(last);
    auto const name = "seq_" + from + "_to_" + to;
    if (!on_mysql()) return name;
    return "(with recursive n(seq) as (select " + from +
           " union all select seq + 1 from n where seq < " + to + ") select seq from n) as " + name;
  }
  [[nodiscard]] std::string innodb() const { return on_mariadb() ? " engine = InnoDB" : ""; }

  [[nodiscard]] std::string effects(std::string const& name) const {
    return database_.query("select count(*) from effect where name = '" + name + "'");
  }
  /// How many rows one of the book's tables has.
  [[nodiscard]] std::string rows_of(std::string const& table) const {
    return database_.query("select count(*) from daybook_" + table);
  }
  static daybook::run taken(daybook::start_result attempt) {
    if (!attempt) throw std::runtime_error("start() gave no run");
    return std::move(attempt).take();
  }
  /// A step's body that leaves one row.
  static auto insert(char const* name) {
    return [name](transaction& tx) { tx.exec("insert into effect(name) values (:n)", name); };
  }
  /// The run as people see it; it must be there.
  [[nodiscard]] daybook::run_detail seen(key const& piece) const {
    return book_.find(nightly_, piece).value();
  }
  [[nodiscard]] daybook::run_detail seen() const { return seen(day_); }

  /// To the database itself, also where the book goes through PgBouncer.
  [[nodiscard]] std::string direct_url() const {
    auto const& url = database_.url();
    if (GetParam().name != "pgbouncer") return url;
    std::string const server = std::getenv("DAYBOOK_TEST_POSTGRESQL");
    return server.substr(0, server.rfind('/')) + url.substr(url.rfind('/'));
  }

  /// Says, whenever it is called, whether some session of the server waits for a row's lock.
  [[nodiscard]] auto lock_waits() const {
    auto const url = on_postgres()
                         ? direct_url()
                         : std::string(std::getenv((GetParam().environment + "_ADMIN").c_str()));
    return [session = std::make_shared<support::raw_connection>(url), postgres = on_postgres(),
            statuses = statuses()] {
      return session->execute(
                 postgres ? "select count(*) from pg_stat_activity where wait_event_type = "
                            "'Lock' and datname = current_database()"
                          : "select variable_value from " + statuses +
                                ".global_status "
                                "where variable_name = 'Innodb_row_lock_current_waits'") != "0";
    };
  }

  recorder log_;
  empty_database empty_;
  support::fresh_database& database_;
  daybook::book book_;
  process const nightly_{"nightly"};
  key const day_{"2026-11-21"};
};

/// The kind of the fault that `what` throws; a test fails when it throws none.
template <class F>
error_code fault_of(F&& what) {
  try {
    what();
  } catch (daybook::error const& e) {
    return e.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return error_code::internal;
}

/// The message of what `what` throws.
template <class F>
std::string message_of(F&& what) {
  try {
    what();
  } catch (std::exception const& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

#define DAYBOOK_ON_EVERY_ENGINE(suite)                                            \
  INSTANTIATE_TEST_SUITE_P(engines, suite, testing::ValuesIn(support::engines()), \
                           [](auto const& of) { return support::name_of(of.param); })

}  // namespace conformance
