#include "db/compound.hpp"
#include "db/session.hpp"
#include "db/url.hpp"
#include "drivers/drivers.hpp"
#include "drivers/mysql/mysql_session.hpp"
#include "drivers/mysql/mysql_adopt.hpp"
#include "drivers/mysql/mysql_connection.hpp"
#include "drivers/mysql/mysql_error.hpp"
#include "drivers/mysql/mysql_rows.hpp"
#include "drivers/mysql/mysql_script.hpp"
#include "drivers/mysql/mysql_settings.hpp"
#include "drivers/mysql/mysql_statement.hpp"
#include "drivers/mysql/mysql_watch.hpp"

#include <daybook/error.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <mysql.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

using std::chrono::milliseconds;

constexpr db::dialect about{
    .name = "mysql",
    .quote = '`',
    .backslash_escapes = true,
    .asks_for_delimiter = true,
    .ddl_in_transaction = false,
    .compounds = true,
    .one_writer = false,
    // UTC whatever the session's zone; it stands still at the start of the statement.
    .real_clock = "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))",
};

// Far above what the library and a program need; a guard against statements without end.
constexpr std::size_t most_statements = 512;
constexpr std::size_t most_together = 32;  // a compound takes the server memory for each
constexpr std::chrono::milliseconds interrupt_patience{2'000};
constexpr unsigned long first_with_compounds = 100602;  // MariaDB 10.6.2 prepares them
constexpr std::string_view compound_start = "begin not atomic";

std::chrono::milliseconds reply_timeout(db::connect_options const& options) {
  // The server's own limit, which tells why, comes first.
  return options.statement_timeout.count() > 0 ? options.statement_timeout + std::chrono::seconds(1)
                                               : std::chrono::milliseconds(0);
}

}  // namespace

mysql_session::mysql_session(db::url const& url, db::connect_options const& options)
    : url_(url),
      options_(options),
      answer_timeout_(options.answer_timeout),
      connection_(open_mysql(url, {.connect_timeout = options.connect_timeout,
                                   .reply_timeout = reply_timeout(options)})),
      socket_(*connection_),
      server_(kind_of(*connection_)),
      compounds_(server_ == mysql_kind::mariadb &&
                 ::mysql_get_server_version(connection_.get()) >= first_with_compounds),
      id_(::mysql_thread_id(connection_.get())) {
  send(mysql_settings(server_, options), mysql_stage::harmless, "connect");
  mysql_wait_limit const waits(limit("connect"));
  try {
    where_ = read_server_identity(*connection_);
  } catch (mysql_failure const& failure) {
    fail(failure.what, mysql_stage::harmless, "connect");
  }
}

mysql_session::mysql_session(::MYSQL& handle, transactions mode, give_back<::MYSQL> after)
    : connection_(adopted_mysql(handle, mode, std::move(after))),
      socket_(*connection_),
      server_(kind_of(*connection_)),
      id_(::mysql_thread_id(connection_.get())),
      joined_(mode == transactions::applications),
      in_transaction_(joined_) {
  url_.shown = shown(handle);
  try {
    auto const found = run_text(read_by("adopt", mysql_handle_facts));
    url_.path = check_mysql_facts(found.row(0), url_.shown);
  } catch (...) {
    connection_.get_deleter().set_broken(!usable());  // whom the destructor would tell
    throw;
  }
}

void mysql_session::fail(mysql_problem const& problem, mysql_stage stage,
                         std::string_view statement) {
  auto const facts = classify_mysql(problem, server_, stage, statement);
  failed_ = in_transaction_ && facts.kind != error_code::constraint &&
            facts.kind != error_code::statement;
  if (facts.breaks_connection) {
    // The server must not wait for us with our locks held. The application sees to its own.
    if (ours()) cut();
    broken_ = true;
  }
  throw mysql_error(problem, facts, server_, url_);
}

void mysql_session::check_alive(std::string_view statement) {
  if (usable()) return;
  cut();
  throw error({.kind = error_code::unreachable,
               .retryable = true,
               .breaks_connection = true,
               .statement = std::string(statement)},
              url_.shown + ": the connection was lost: check that the server runs");
}

/// A deadlock has rolled back everything, DDL has committed it, and so has "commit" through the
/// handle: what followed would no longer be one transaction with what was before.
void mysql_session::check_transaction_goes_on(std::string_view statement) {
  if (failed_) {
    throw error(
        {.kind = error_code::conflict, .retryable = true, .statement = std::string(statement)},
        url_.shown + ": the transaction failed before and must be rolled back");
  }
  if (!in_transaction_ || (connection_->server_status & SERVER_STATUS_IN_TRANS) != 0) return;
  if (joined_) check_mysql_transaction(*connection_, transactions::applications, url_.shown);
  refuse_ended(statement);
}

/// For the server a new one may have begun: only a ROLLBACK ends that.
void mysql_session::refuse_ended(std::string_view statement) const {
  throw error({.kind = error_code::statement, .statement = std::string(statement)},
              url_.shown +
                  ": a statement ended the transaction it was part of; what came before it is "
                  "committed, or, by a deadlock, rolled back: do not change tables or end "
                  "transactions there, and let no error of the native handle go unheeded");
}

/// Not where the application commits: what is past the driver there is all of its transaction.
void mysql_session::watch() noexcept {
  if (!in_transaction_ || joined_ || broken_) return;
  prepare_mysql_thread();
  mysql_wait_limit const waits(limit("watch"));
  failed_ = !watch_.set(*connection_) || failed_;
}

db::native mysql_session::handle() noexcept {
  watch();
  lent_ = in_transaction_;
  unknown_ = settings_ = true;
  return connection_.get();
}

/// A statement of a user's may have set the session's clock, or how text is read; the server tells
/// of each change, also where a function or a trigger has made it. MySQL does not tell of those:
/// each statement of a user's may have called one.
void mysql_session::know_settings(db::statement const& statement) {
  if (statement.name == "user") {
    if (statement.changes_session) settings_ = true;
    unknown_ = unknown_ || statement.changes_session || server_ == mysql_kind::mysql;
  }
  if (!ours() || !in_transaction_ || statement.name == "user" || !unknown_) return;
  unknown_ = lent_;
  send(mysql_statement_settings, mysql_stage::harmless, statement.name);
}

/// As a new connection, on the old one: also its role and the database that is chosen.
bool mysql_session::restore() noexcept {
  bool const all = std::exchange(settings_, false);
  bool const clock = std::exchange(unknown_, false) && server_ == mysql_kind::mysql;
  if (!(all || clock) || !ours()) return usable();
  if (!usable() || in_transaction_) return false;
  try {
    if (!all) {
      send(mysql_statement_settings, mysql_stage::harmless, "restore");
      return usable();
    }
    prepare_mysql_thread();
    std::string const user = connection_->user == nullptr ? "" : connection_->user;
    {
      mysql_wait_limit const waits(limit("restore"));
      if (::mysql_change_user(connection_.get(), user.c_str(), url_.password.c_str(),
                              url_.path.c_str()) != 0) {
        cut();
        return false;
      }
    }
    statements_.clear();
    send(mysql_settings(server_, options_), mysql_stage::harmless, "restore");
    return usable();
  } catch (std::exception const&) {
    return false;
  }
}

mysql_stage mysql_session::stage_of(db::statement const& statement) const noexcept {
  if (in_transaction_ || statement.only_reads) return mysql_stage::harmless;
  return statement.text.starts_with(compound_start) ? mysql_stage::compound
                                                    : mysql_stage::autocommit;
}

/// A server can be stopped, or a network half open, and no keepalive tells.
milliseconds mysql_session::limit(std::string_view statement, bool takes_its_time) const {
  if (takes_its_time || answer_timeout_.count() == 0) return milliseconds(0);
  if (statement != "commit") return answer_timeout_;
  return answer_timeout_ +
         std::chrono::floor<milliseconds>(std::chrono::steady_clock::now() - begun_);
}

void mysql_session::send(std::string_view text, mysql_stage stage, std::string_view statement) {
  prepare_mysql_thread();
  mysql_wait_limit const waits(limit(statement));
  if (::mysql_real_query(connection_.get(), text.data(), text.size()) != 0) {
    fail(problem_of(*connection_), stage, statement);
  }
}

db::table mysql_session::run_text(db::statement const& statement) {
  prepare_mysql_thread();
  mysql_wait_limit const waits(limit(statement.name, statement.takes_its_time));
  if (::mysql_real_query(connection_.get(), statement.text.data(), statement.text.size()) != 0) {
    fail(problem_of(*connection_), stage_of(statement), statement.name);
  }
  try {
    return read_mysql_text(*connection_, statement.name);
  } catch (mysql_failure const& failure) {
    fail(failure.what, stage_of(statement), statement.name);
  }
}

::MYSQL_STMT* mysql_session::prepare(db::statement const& statement) {
  if (auto const known = statements_.find(statement.text); known != statements_.end()) {
    return known->second.get();
  }
  mysql_statement made(::mysql_stmt_init(connection_.get()));
  if (!made) throw error({.kind = error_code::io}, url_.shown + ": no memory for a statement");
  if (::mysql_stmt_prepare(made.get(), statement.text.data(), statement.text.size()) != 0) {
    auto const problem = problem_of(*made);
    constexpr unsigned only_as_text = 1295;
    if (problem.code != only_as_text || !statement.order.empty()) {
      fail(problem, mysql_stage::harmless, statement.name);
    }
    made.reset();
  }
  if (statements_.size() >= most_statements) statements_.clear();
  return statements_.emplace(statement.text, std::move(made)).first->second.get();
}

db::table mysql_session::run_prepared(::MYSQL_STMT& handle, db::statement const& statement,
                                      std::span<value const> values) {
  if (::mysql_stmt_param_count(&handle) != statement.order.size()) {
    throw error({.kind = error_code::statement, .statement = statement.name},
                url_.shown +
                    ": the server sees another number of parameters than the text has "
                    "names; a backslash before a quote, perhaps");
  }
  try {
    execute_mysql(handle, statement, values);
    bool const gathers = statement.name != "user" && statement.text.starts_with(compound_start);
    return read_mysql(handle, statement.name, gathers ? mysql_results::all : mysql_results::first);
  } catch (mysql_failure const& failure) {
    fail_prepared(failure.what, statement, statement.name);
  }
}

void mysql_session::fail_prepared(mysql_problem const& problem, db::statement const& statement,
                                  std::string_view name) {
  auto const stage = stage_of(statement);
  // A killed statement runs no handler: its transaction may be open still.
  in_transaction_ = in_transaction_ || stage == mysql_stage::compound;
  try {
    fail(problem, stage, name);
  } catch (...) {
    if (stage == mysql_stage::compound) rollback();
    throw;
  }
}

db::table mysql_session::run(db::statement const& statement, std::span<value const> values) {
  check_mysql_count(statement, values);
  prepare_mysql_thread();
  // Inside a transaction the statement itself finds out, and nothing of it can have stayed.
  if (!in_transaction_ || broken_) check_alive(statement.name);
  if (statement.changes_session) watch();
  check_transaction_goes_on(statement.name);
  know_settings(statement);
  mysql_wait_limit const waits(limit(statement.name, statement.takes_its_time));
  if (!ours() && !in_transaction_) {
    check_mysql_transaction(*connection_, transactions::ours, url_.shown);
    if (!commits_by_itself(*connection_)) return run_alone(statement, values);
  }
  auto* const handle = prepare(statement);
  auto out = handle != nullptr ? run_prepared(*handle, statement, values) : run_text(statement);
  if ((connection_->server_status & SERVER_SESSION_STATE_CHANGED) != 0) {
    unknown_ = settings_ = true;
  }
  if (!ours()) count_matched_rows(*connection_, statement.text, out);
  check_transaction_goes_on(statement.name);
  return out;
}

/// A compound statement, where the server takes these as one.
std::vector<db::table> mysql_session::together(std::span<db::call const> calls) {
  if (calls.empty()) return {};
  if (!compounds_ || calls.size() > most_together) return session::together(calls);
  for (auto const& one : calls) check_mysql_count(*one.what, one.values);
  prepare_mysql_thread();
  auto const whole = db::compound(calls);
  check_alive(whole.what.name);
  mysql_wait_limit const waits(limit("together", whole.what.takes_its_time));
  ::MYSQL_STMT* handle = nullptr;
  try {
    handle = prepare(whole.what);
  } catch (error const& e) {
    if (e.kind() != error_code::statement) throw;
    return session::together(calls);  // which tells whose fault it is
  }
  std::vector<db::table> answers;
  try {
    execute_mysql(*handle, whole.what, whole.values);
    read_mysql_answers(*handle, calls, answers);
  } catch (mysql_failure const& failure) {
    auto const first = calls.subspan(answers.size());
    fail_prepared(failure.what, whole.what, first.empty() ? "commit" : first.front().what->name);
  }
  return answers;
}

std::int64_t mysql_session::load(db::load_target const& target, std::span<value const> cells) {
  constexpr std::size_t rows_together = 1000;
  if (db::rows_of(target, cells) == 0) return 0;
  prepare_mysql_thread();
  if (!in_transaction_ || broken_) check_alive("load");
  check_transaction_goes_on("load");
  auto const one = db::insert_rows(target, 1);
  auto const width = target.columns.size();
  auto* const handle = [&] {
    mysql_wait_limit const waits(limit("load"));
    return prepare(one);
  }();
  if (handle == nullptr || !takes_mysql_rows(*handle, cells)) return session::load(target, cells);
  std::int64_t out = 0;
  while (!cells.empty()) {
    auto const size = db::rows_at_once(target, cells, rows_together) * width;
    mysql_wait_limit const waits(limit("load"));
    try {
      out += execute_mysql_rows(*handle, cells.first(size));
    } catch (mysql_failure const& failure) {
      fail(failure.what, stage_of(one), "load");
    }
    cells = cells.subspan(size);
  }
  check_transaction_goes_on("load");
  return out;
}

/// Where the application has set autocommit off.
db::table mysql_session::run_alone(db::statement const& statement, std::span<value const> values) {
  begin(isolation::read_committed);
  try {
    auto out = run(statement, values);
    commit();
    return out;
  } catch (...) {
    rollback();
    throw;
  }
}

void mysql_session::script(std::string_view text) {
  check_alive("script");
  // A migration that was cut short is run again, and "if not exists" is MariaDB's alone here.
  constexpr int duplicate_column = 1060;
  constexpr int duplicate_index = 1061;
  for (auto const one : split_mysql_script(text)) {
    try {
      db::statement const statement{
          .name = "script", .text = std::string(one), .takes_its_time = true};
      static_cast<void>(run_text(statement));
    } catch (error const& e) {
      if (e.native_code() != duplicate_column && e.native_code() != duplicate_index) throw;
    }
  }
}

void mysql_session::begin(isolation level) {
  if (joined_) refuse_to_end(url_.shown);
  check_alive("begin");
  if (!ours()) check_mysql_transaction(*connection_, transactions::ours, url_.shown);
  if (std::string_view const first = isolation_text(level, ours()); !first.empty()) {
    send(first, mysql_stage::harmless, "begin");
  }
  send("start transaction", mysql_stage::harmless, "begin");
  in_transaction_ = true;
  lent_ = unknown_ = false;
  begun_ = std::chrono::steady_clock::now();
}

void mysql_session::commit() {
  if (joined_) refuse_to_end(url_.shown);
  check_transaction_goes_on("commit");
  mysql_wait_limit const waits(limit("commit"));
  if (auto const problem = watch_.release(*connection_)) {
    if (problem->code == mysql_watch::ended) refuse_ended("commit");
    fail(*problem, mysql_stage::harmless, "commit");
  }
  // A connection that is known to be lost is no exception: what the network did with an earlier
  // COMMIT is not known here, and settling a doubt is always right.
  send("commit", mysql_stage::commit, "commit");
  in_transaction_ = false;
  if (!watch_.end(*connection_)) cut();
}

void mysql_session::rollback() noexcept {
  if (joined_) return;  // the application's to roll back
  failed_ = false;
  if (!std::exchange(in_transaction_, false) || broken_) return;
  prepare_mysql_thread();
  mysql_wait_limit const waits(limit("rollback"));
  constexpr std::string_view text = "rollback";
  bool const done = ::mysql_real_query(connection_.get(), text.data(), text.size()) == 0;
  if (!done || !watch_.end(*connection_)) cut();
}

void mysql_session::cut() noexcept {
  broken_ = true;
  socket_.cut();
}

/// By a second connection, as the protocol has it; where that does not come to the same server
/// in time, by cutting ours, after which the server ends the statement when it looks.
void mysql_session::interrupt() noexcept {
  if (!ours()) return cut();  // there is no URL to connect by
  try {
    auto const second = open_mysql(
        url_, {.connect_timeout = interrupt_patience, .reply_timeout = interrupt_patience});
    if (read_server_identity(*second) == where_) {
      auto const text = "kill query " + std::to_string(id_);
      if (::mysql_real_query(second.get(), text.data(), text.size()) == 0) return;
    }
  } catch (...) {
    // Cutting is the answer to every failure here.
  }
  cut();
}

void mysql_session::add_clock_difference(std::vector<db::fact>& facts) {
  auto const micros = [] {
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  };
  auto const before = micros();
  auto const found = run_text(read_by("facts", "select " + std::string(about.real_clock)));
  auto const host = before + (micros() - before) / 2;
  if (auto const* const server = std::get_if<std::int64_t>(&found.cells.at(0))) {
    facts.push_back({"clock_difference_ms", std::to_string((*server - host) / 1000)});
  }
}

std::vector<db::fact> mysql_session::facts() {
  std::vector<db::fact> out{
      {"client_library", ::mysql_get_client_info()},
      {"server", server_ == mysql_kind::mariadb ? "MariaDB" : "MySQL"},
      {"server_version", ::mysql_get_server_info(connection_.get())},
  };
  auto const* const cipher = ::mysql_get_ssl_cipher(connection_.get());
  out.push_back({"tls", cipher == nullptr ? "none" : cipher});
  try {
    add_clock_difference(out);
    add_mysql_variables(out, server_, run_text(read_by("facts", mysql_variables)));
  } catch (std::exception const&) {
    // What may not be seen is not told.
  }
  return out;
}

db::dialect const& mysql_dialect() noexcept { return about; }

std::unique_ptr<db::session> connect_mysql(db::url const& url, db::connect_options const& options) {
  return std::make_unique<mysql_session>(url, options);
}

std::unique_ptr<db::session> adopt(::st_mysql& handle, transactions mode,
                                   db::connect_options const&, give_back<::st_mysql> after) {
  return std::make_unique<mysql_session>(handle, mode, std::move(after));
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
