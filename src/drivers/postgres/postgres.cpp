// PostgreSQL through libpq. A transaction's BEGIN travels with its first statement, a statement's
// PREPARE with its first use: one round trip each. Behind a pooler that lends a server's
// connection for one transaction (PgBouncer) nothing may outlive the transaction, so there
// statements have no name and settings are `set local`. So it is on a handle of the application's,
// where nothing of ours may stay.
#include "drivers/drivers.hpp"
#include "drivers/postgres/postgres_session.hpp"

#include "drivers/handle.hpp"
#include "drivers/postgres/postgres_adopt.hpp"
#include "drivers/postgres/postgres_connect.hpp"
#include "drivers/postgres/postgres_copy.hpp"
#include "drivers/postgres/postgres_error.hpp"
#include "drivers/postgres/postgres_facts.hpp"
#include "drivers/postgres/postgres_statements.hpp"
#include "drivers/postgres/postgres_wire.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr db::dialect about{
    .name = "postgres",
    .quote = '"',
    .backslash_escapes = false,
    .asks_for_delimiter = false,
    .ddl_in_transaction = true,
    .compounds = false,
    .one_writer = false,
    // now() stands still in a transaction. The cast rounds, so the microseconds are exact where
    // extract() is a double, too (before 14).
    .real_clock = "(extract(epoch from pg_catalog.clock_timestamp()) * 1000000)::bigint",
};

/// Past the server's own limit, how long it may take to say so.
constexpr milliseconds grace{1'000};

constexpr milliseconds rollback_patience{5'000};

void check_count(db::statement const& statement, std::span<value const> values) {
  if (values.size() == statement.inputs.size()) return;
  throw error({.kind = error_code::bad_argument, .statement = statement.name},
              "a statement has " + std::to_string(statement.inputs.size()) + " parameters, and " +
                  std::to_string(values.size()) + " values were given");
}

}  // namespace

postgres_session::postgres_session(db::url const& url, db::connect_options const& options)
    : url_(url), options_(options), connection_(open_connection(url, options)) {
  ::PQsetNoticeReceiver(connection_.get(), &hear_notice, &heard_);
  cancel_.reset(::PQgetCancel(connection_.get()));
  set_up();
}

/// Its notices stay the application's.
postgres_session::postgres_session(::PGconn& handle, transactions mode,
                                   db::connect_options const& options, give_back<::PGconn> after)
    : options_(options),
      connection_(&handle, end_of<::PGconn, ::PQfinish>(std::move(after))),
      open_(mode == transactions::applications),
      begin_sent_(open_),
      pooled_(true),
      pooler_(true),
      joined_(open_) {
  url_.shown = shown(handle);
  connection_.get_deleter().set_broken(::PQstatus(&handle) != CONNECTION_OK);
  check_postgres_handle(handle, mode);
  cancel_.reset(::PQgetCancel(&handle));
  if (joined_) check_joined();
}

void postgres_session::check_joined() {
  auto const found = run(joined_postgres_facts(), {});
  check_joined_postgres(found.row(0), url_.shown);
}

/// A server can be stopped, or a network half open, and no keepalive tells.
patience postgres_session::limit(std::string_view statement, bool takes_its_time) const {
  auto const now = steady_clock::now();
  if (options_.statement_timeout.count() > 0) return now + options_.statement_timeout + grace;
  if (takes_its_time || options_.answer_timeout.count() == 0) return std::nullopt;
  auto const own = now + options_.answer_timeout;
  return statement == "commit" || statement == "load" ? own + (now - begun_) : own;
}

void postgres_session::set_up() {
  // A pooler invents the key for cancelling, and the process id in it. The level: where a standby's
  // default is serializable, it refuses every query.
  auto const came = run_script(*connection_,
                               "begin isolation level read committed;"
                               "select pg_catalog.pg_backend_pid(); commit",
                               limit("connect"));
  check(came, "connect", moment::inside);
  auto const pid = to_table(came.results.at(1).get()).cells.at(0);
  pooler_ = pid != cell(std::int64_t{::PQbackendPID(connection_.get())});
  pooled_ = pooler_;
  if (pooled_) return;
  check(run_script(*connection_, session_settings(options_), limit("connect")), "connect",
        moment::inside);
}

void postgres_session::send_begin(round_trip& trip) {
  trip.query(begin_text(level_).c_str());
  if (pooled_) trip.query(local_settings(options_).c_str());
}

void postgres_session::send(round_trip& trip, std::string const& text, parameters const& values) {
  if (pooled_) {
    trip.query(text, values);
  } else {
    statements_.send(trip, text, values);
  }
}

/// A statement that goes by indexes is planned without whole reads of tables. Where statements are
/// not kept, each is planned for the tables as they are.
std::size_t postgres_session::send(round_trip& trip, db::statement const& statement,
                                   parameters const& values) {
  static std::string const off = "set enable_seqscan = off";
  static std::string const restored = "reset enable_seqscan";
  parameters const none(std::span<value const>{});
  bool const planned_once = statement.by_index && !pooled_;
  if (planned_once) send(trip, off, none);
  send(trip, statement.text, values);
  auto const at = trip.size() - 1;
  if (planned_once) send(trip, restored, none);
  return at;
}

db::table postgres_session::run(db::statement const& statement, std::span<value const> values) {
  check_count(statement, values);
  if (!open_ && pooled_) {
    // Settings need a transaction; its own is as good as none.
    begin(isolation::read_committed);
    try {
      auto out = run(statement, values);
      if (statement.only_reads) {
        rollback();
      } else {
        commit();
      }
      return out;
    } catch (...) {
      rollback();
      throw;
    }
  }
  parameters const parameters(values);
  auto const when = open_ || statement.only_reads ? moment::inside : moment::alone;
  require_connected(statement.name, when);
  if (open_ && begin_sent_) require_transaction(statement.name);
  if (statement.name == "user") {
    users_ = open_;
    settings_ = settings_ || !open_ || statement.changes_session;
  }

  round_trip trip(*connection_);
  if (open_ && !std::exchange(begin_sent_, true)) send_begin(trip);
  auto const at = send(trip, statement, parameters);
  auto const came = trip.finish(limit(statement.name, statement.takes_its_time));
  statements_.keep(came);
  check(came, statement.name, when);
  return to_table(came.results.at(at).get());
}

/// Within begin() and its end. Where prepared statements are kept, the session's settings are, too,
/// and what is under one sync is one transaction without a word about it.
std::vector<db::table> postgres_session::send_together(std::span<db::call const> calls,
                                                       std::span<parameters const> batch) {
  round_trip trip(*connection_);
  begin_sent_ = true;
  if (pooled_) send_begin(trip);
  std::vector<std::size_t> last;  // of each call's messages
  last.reserve(calls.size());
  for (std::size_t at = 0; at < calls.size(); ++at) {
    last.push_back(send(trip, *calls[at].what, batch[at]));
  }
  if (pooled_) trip.query("commit");
  bool const long_one = std::any_of(calls.begin(), calls.end(),
                                    [](db::call const& one) { return one.what->takes_its_time; });
  auto const came = trip.finish(limit("together", long_one));
  statements_.keep(came);
  auto const stopped_at = std::lower_bound(last.begin(), last.end(), came.failed_at());
  check(came,
        stopped_at == last.end()
            ? "commit"
            : calls[static_cast<std::size_t>(stopped_at - last.begin())].what->name,
        moment::alone);
  std::vector<db::table> out;
  out.reserve(calls.size());
  for (auto const at : last) out.push_back(to_table(came.results.at(at).get()));
  return out;
}

std::vector<db::table> postgres_session::together(std::span<db::call const> calls) {
  if (calls.empty()) return {};
  // Before anything is on its way: a value may be one that cannot go.
  std::vector<parameters> batch;
  batch.reserve(calls.size());
  for (auto const& one : calls) {
    check_count(*one.what, one.values);
    batch.emplace_back(one.values);
  }
  begin(isolation::read_committed);
  try {
    auto out = send_together(calls, batch);
    open_ = false;
    return out;
  } catch (...) {
    rollback();
    throw;
  }
}

std::int64_t postgres_session::load(db::load_target const& target, std::span<value const> cells) {
  if (db::rows_of(target, cells) == 0) return 0;
  auto const when = open_ ? moment::inside : moment::alone;
  require_connected("load", when);
  if (open_ && begin_sent_) require_transaction("load");
  begin_now();
  auto const came = copy_in(*connection_, target, cells, [this] { return limit("load"); });
  check(came, "load", when);
  return to_table(came.results.back().get()).affected;
}

void postgres_session::script(std::string_view text) {
  auto const when = open_ ? moment::inside : moment::alone;
  require_connected("script", when);
  begin_now();
  check(run_script(*connection_, std::string(text), limit("script", true)), "script", when);
}

/// Behind a pooler what is listened to is another's a moment later, and so is what it hears.
bool postgres_session::listen(std::string_view channel) {
  if (pooled_) return false;
  script("listen \"" + std::string(channel) + "\"");
  return true;
}

bool postgres_session::hear(deadline until, base::bell const& unless) {
  bool const any = wait_for_notification(*connection_, until, unless);
  require_connected("listen", moment::inside);
  return any;
}

void postgres_session::stop_listening() { script("unlisten *"); }

void postgres_session::begin(isolation level) {
  if (joined_) refuse_to_end(url_.shown);
  require_connected("begin", moment::inside);
  if (!connection_.get_deleter().ours() && !open_)
    check_postgres_handle(*connection_, transactions::ours);
  if (open_ || ::PQtransactionStatus(connection_.get()) != PQTRANS_IDLE) {
    broken_ = true;
    throw error({.kind = error_code::internal, .breaks_connection = true, .statement = "begin"},
                url_.shown + ": a transaction is open already on this connection");
  }
  level_ = level;
  begun_ = steady_clock::now();
  users_ = false;
  open_ = true;
  begin_sent_ = false;
}

void postgres_session::commit() {
  if (joined_) refuse_to_end(url_.shown);
  if (open_ && !begin_sent_ && !cut_) {
    open_ = false;
    return;
  }
  require_connected("commit", moment::at_commit);
  require_transaction("commit");
  auto const came = send_commit();
  if (::PQtransactionStatus(connection_.get()) == PQTRANS_IDLE) open_ = false;
  check(came, "commit", moment::at_commit);
  if (std::string_view(::PQcmdStatus(came.results.back().get())) != "ROLLBACK") return;
  throw error({.kind = error_code::conflict, .sqlstate = "25P02", .statement = "commit"},
              url_.shown +
                  ": the transaction was rolled back, for an earlier statement of it had "
                  "failed: let that statement's error through");
}

/// Whatever a user's statement, or a function or trigger that it called, has set: the COMMIT that
/// carries the record is as durable as the server, the database and the role have it. Prepared and
/// on the way of the COMMIT it costs some microseconds. What is aborted already takes nothing else.
answer postgres_session::send_commit() {
  if (!users_ || ::PQtransactionStatus(connection_.get()) != PQTRANS_INTRANS) {
    return run_script(*connection_, "commit", limit("commit"));
  }
  static std::string const session = "reset synchronous_commit";
  static std::string const transaction = "set local synchronous_commit to default";
  parameters const none(std::span<value const>{});
  round_trip trip(*connection_);
  if (settings_ && !pooled_) {
    trip.query(session, none);  // the body may have dropped what was prepared
  } else {
    send(trip, pooled_ ? transaction : session, none);
  }
  trip.query("commit");
  auto came = trip.finish(limit("commit"));
  statements_.keep(came);
  return came;
}

bool postgres_session::restore() noexcept {
  if (!std::exchange(settings_, false) || pooler_) return usable();
  if (!usable() || ::PQtransactionStatus(connection_.get()) != PQTRANS_IDLE ||
      ::PQpipelineStatus(connection_.get()) != PQ_PIPELINE_OFF) {
    return false;
  }
  ::PQsetnonblocking(connection_.get(), 0);
  ::PQsetNoticeReceiver(connection_.get(), &hear_notice, &heard_);
  try {
    // It forgets the prepared statements, too: those of ours are made again as they are used.
    check(run_script(*connection_, "discard all", limit("restore")), "restore", moment::inside);
    statements_ = {};
    pooled_ = false;
    check(run_script(*connection_, session_settings(options_), limit("restore")), "restore",
          moment::inside);
    return usable();
  } catch (std::exception const&) {
    return false;
  }
}

/// A record of the log that is none of anybody's: its COMMIT waits for the standbys as any does,
/// and so for all that came before it. Where no standby is named nothing is written.
void postgres_session::confirm_seen() {
  static db::statement const asked{
      .name = "confirm",
      .text =
          "select case when pg_catalog.current_setting('synchronous_standby_names') <> '' then "
          "pg_catalog.pg_logical_emit_message(true, 'daybook', '')::text end"};
  static_cast<void>(run(asked, {}));
}

void postgres_session::rollback() noexcept {
  if (joined_) return;  // the application's to roll back
  if (!std::exchange(open_, false) || !begin_sent_ || !usable()) return;
  if (::PQtransactionStatus(connection_.get()) == PQTRANS_IDLE) return;
  try {
    auto const came = run_script(*connection_, "rollback", steady_clock::now() + rollback_patience);
    if (!came.whole || came.error() != nullptr) broken_ = true;
  } catch (std::exception const&) {
    broken_ = true;
  }
}

void postgres_session::cut() noexcept {
  cut_ = true;
  broken_ = true;
  cut_socket(*connection_);
}

void postgres_session::interrupt() noexcept {
  std::array<char, 256> why{};
  if (cancel_) ::PQcancel(cancel_.get(), why.data(), static_cast<int>(why.size()));
}

/// For the application's own statements: they must find the transaction begun.
db::native postgres_session::handle() noexcept {
  users_ = true;
  settings_ = true;
  try {
    if (usable()) begin_now();
  } catch (...) {
    // Without a transaction every statement of the application would commit by itself.
    cut_socket(*connection_);
    broken_ = true;
    why_no_begin_ = std::current_exception();
  }
  return connection_.get();
}

void postgres_session::begin_now() {
  if (!open_ || std::exchange(begin_sent_, true)) return;
  round_trip trip(*connection_);
  send_begin(trip);
  check(trip.finish(limit("begin")), "begin", moment::inside);
}

void postgres_session::require_connected(std::string const& statement, moment when) {
  if (cut_) {
    // As a broken network would have it: a COMMIT on its way may have arrived.
    fail({.cause = "the connection was cut"}, statement,
         when == moment::at_commit ? when : moment::inside);
  }
  if (why_no_begin_) std::rethrow_exception(why_no_begin_);
  if (!broken_ && still_connected(*connection_)) return;
  // Nothing was sent, so nothing is in doubt.
  fail({.cause = heard_.last_words.empty() ? "the connection was lost" : heard_.last_words},
       statement, moment::inside);
}

/// A COMMIT or ROLLBACK among the body's statements would let the rest run unfenced.
void postgres_session::require_transaction(std::string const& statement) {
  auto const status = ::PQtransactionStatus(connection_.get());
  if (joined_) check_postgres_handle(*connection_, transactions::applications);
  if (status == PQTRANS_INTRANS || status == PQTRANS_INERROR) return;
  broken_ = true;
  throw error({.kind = error_code::bad_argument, .breaks_connection = true, .statement = statement},
              url_.shown +
                  ": the transaction is not open any more: its body must not end it, and "
                  "must read all results of its own statements");
}

void postgres_session::check(answer const& came, std::string const& statement, moment when) {
  auto const* const wrong = came.error();
  if (came.whole && wrong == nullptr && !came.results.empty()) {
    if (when != moment::inside) check_replicated(statement);
    return;
  }
  if (wrong != nullptr && ::PQresultStatus(wrong) != PGRES_FATAL_ERROR) {
    broken_ = true;
    throw error({.kind = error_code::statement, .breaks_connection = true, .statement = statement},
                url_.shown + ": COPY is not possible here: use the handle of libpq, as<pg_conn>()");
  }
  auto what = read_failure(wrong, connection_.get());
  if (came.late) what.cause = "the server did not answer in time";
  if (what.sqlstate.empty() && !heard_.last_words.empty()) what.cause = heard_.last_words;
  fail(what, statement, when);
}

/// The primary has committed; the standbys that every COMMIT waits for may not have it, and the
/// history that survives a fail-over may be without. To look for it here would settle nothing: the
/// COMMIT of another transaction does, which waits for all that came before it.
void postgres_session::check_replicated(std::string const& statement) {
  if (!std::exchange(heard_.unreplicated, false)) return;
  throw error({.kind = error_code::unreachable,
               .in_doubt = true,
               .sqlstate = "01000",
               .statement = statement},
              url_.shown +
                  ": the wait for a synchronous standby was broken off, so that the COMMIT may be "
                  "lost in a fail-over: connect the standbys that synchronous_standby_names names, "
                  "or take them out");
}

void postgres_session::fail(postgres_failure const& failure, std::string const& statement,
                            moment when) {
  auto facts = classify(failure);
  facts.statement = statement;
  // An ordinary error has rolled back. So has the end of a session that was idle (25P03).
  facts.in_doubt = when != moment::inside && failure.fatal && failure.sqlstate != "25P03";
  if (facts.in_doubt) facts.retryable = false;
  if (facts.breaks_connection) broken_ = true;
  if (failure.stale_plan) statements_.forget();
  if (failure.sqlstate == "26000" || failure.sqlstate == "42P05") pooled_ = true;
  throw error(facts, describe(url_, failure));
}

std::vector<db::fact> postgres_session::facts() {
  auto const ask = [this](db::statement const& statement) { return run(statement, {}); };
  auto out = postgres_facts(*connection_, ask);
  out.push_back({"pooler", pooled_ ? "yes" : "no"});
  out.push_back({"writable_hosts", url_.original.empty() ? "1" : writable_hosts(url_, options_)});
  return out;
}

db::dialect const& postgres_dialect() noexcept { return about; }

std::unique_ptr<db::session> connect_postgres(db::url const& url,
                                              db::connect_options const& options) {
  return std::make_unique<postgres_session>(url, options);
}

std::unique_ptr<db::session> adopt(::pg_conn& handle, transactions mode,
                                   db::connect_options const& options, give_back<::pg_conn> after) {
  return std::make_unique<postgres_session>(handle, mode, options, std::move(after));
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
