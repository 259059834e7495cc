// The composition root: the only file that sees the drivers and the rooms above them together.
#include "aggregation/store.hpp"
#include "base/uuid.hpp"
#include "core/admin/doctor.hpp"
#include "core/admin/holders.hpp"
#include "core/admin/inspect.hpp"
#include "core/admin/operate.hpp"
#include "core/admin/tokens.hpp"
#include "core/tx/transact.hpp"
#include "drivers/drivers.hpp"
#include "intake/store.hpp"
#include "planner/store.hpp"
#include "queue/admin/examine.hpp"
#include "queue/members/store.hpp"
#include "schedule/store.hpp"
#include "service/engine.hpp"
#include "service/intakes/intake_service.hpp"
#include "service/planner_service.hpp"
#include "service/signals.hpp"

#include <daybook/book.hpp>
#include <daybook/error.hpp>

#include <atomic>
#include <memory>
#include <utility>

namespace daybook {
inline namespace v1 {

namespace {

using connect = std::function<std::unique_ptr<db::session>(db::connect_options const&)>;

work::driver driver_of(db::scheme scheme, connect mode, db::stock keeps) {
  switch (scheme) {
    case db::scheme::sqlite:
      return {&drivers::sqlite_dialect(), db::placeholder::question_digit, std::move(mode), keeps};
    case db::scheme::postgres:
      return {&drivers::postgres_dialect(), db::placeholder::dollar, std::move(mode), keeps};
    case db::scheme::mysql:
      return {&drivers::mysql_dialect(), db::placeholder::question, std::move(mode), keeps};
  }
  throw error({.kind = error_code::internal}, "a scheme without a driver");
}

connect connecting_to(db::url const& url) {
  switch (url.scheme) {
    case db::scheme::sqlite:
      return [url, known = std::make_shared<std::atomic<bool>>(false)](auto const& options) {
        // A file that was deleted while we used it is not made again: it would be an empty one.
        auto made = drivers::connect_sqlite(url, options, *known);
        *known = true;
        return made;
      };
    case db::scheme::postgres:
      return [url](auto const& options) { return drivers::connect_postgres(url, options); };
    case db::scheme::mysql:
      return [url](auto const& options) { return drivers::connect_mysql(url, options); };
  }
  throw error({.kind = error_code::internal}, "a scheme without a driver");
}

db::scheme scheme_of(::sqlite3 const*) { return db::scheme::sqlite; }
db::scheme scheme_of(::pg_conn const*) { return db::scheme::postgres; }
db::scheme scheme_of(::st_mysql const*) { return db::scheme::mysql; }

template <class N>
db::url where_is(N& handle) {
  db::url out;
  out.scheme = scheme_of(&handle);
  out.shown = drivers::shown(handle);
  return out;
}

template <class N>
std::unique_ptr<work::engine> on_one(N& handle, book_options options) {
  auto how = [&handle](db::connect_options const& connect) {
    return drivers::adopt(handle, drivers::transactions::ours, connect);
  };
  auto made = std::make_unique<work::engine>(
      where_is(handle), std::move(options),
      driver_of(scheme_of(&handle), std::move(how), db::stock::single));
  made->look();
  return made;
}

template <class N>
N& taken_from(connection_source<N> const& connections) {
  if (!connections.take || !connections.give_back) {
    throw error({.kind = error_code::bad_argument}, "a lender needs both: take and give_back");
  }
  if (auto* const handle = connections.take()) return *handle;
  throw error({.kind = error_code::unreachable, .retryable = true},
              "the application's pool has no connection to lend: make it larger");
}

template <class N>
std::unique_ptr<work::engine> on_loans(connection_source<N> const& connections,
                                       book_options options) {
  auto& first = taken_from(connections);
  auto where = where_is(first);
  auto const scheme = where.scheme;
  connections.give_back(&first, false);
  auto how = [connections](db::connect_options const& connect) {
    return drivers::adopt(taken_from(connections), drivers::transactions::ours, connect,
                          connections.give_back);
  };
  return std::make_unique<work::engine>(std::move(where), std::move(options),
                                        driver_of(scheme, std::move(how), db::stock::none));
}

template <class N>
external_transaction join_to(N& handle, work::engine& engine) {
  if (engine.where().scheme != scheme_of(&handle)) {
    throw error(
        {.kind = error_code::bad_argument},
        "the joined transaction is on another engine than the book " + engine.where().shown);
  }
  auto const with = engine.ready();
  auto on = drivers::adopt(handle, drivers::transactions::applications, engine.connecting());
  engine.check_joined(*on);
  return {std::move(on), with.user_sql, std::string(with.book_id)};
}

/// Each book in memory is one of its own, shared by its sessions.
db::url located(std::string_view text) {
  auto where = db::parse_url(text);
  if (where.scheme == db::scheme::sqlite && where.path == ":memory:") {
    where.path = "file:/daybook-memory-" + base::new_uuid() + "?vfs=memdb";
  }
  return where;
}

}  // namespace

book::book(std::string_view url, book_options options) {
  auto where = located(url);
  auto how = driver_of(where.scheme, connecting_to(where), db::stock::kept);
  engine_ = std::make_unique<work::engine>(std::move(where), std::move(options), std::move(how));
}

book::book(std::unique_ptr<work::engine> engine) noexcept : engine_(std::move(engine)) {}

book book::adopt_connection(::sqlite3& handle, book_options options) {
  return book(on_one(handle, std::move(options)));
}
book book::adopt_connection(::pg_conn& handle, book_options options) {
  return book(on_one(handle, std::move(options)));
}
book book::adopt_connection(::st_mysql& handle, book_options options) {
  return book(on_one(handle, std::move(options)));
}

book book::from_pool(connection_source<::sqlite3> connections, book_options options) {
  return book(on_loans(connections, std::move(options)));
}
book book::from_pool(connection_source<::pg_conn> connections, book_options options) {
  return book(on_loans(connections, std::move(options)));
}
book book::from_pool(connection_source<::st_mysql> connections, book_options options) {
  return book(on_loans(connections, std::move(options)));
}

book::book(book&&) noexcept = default;
book& book::operator=(book&& other) noexcept {
  book const old(std::move(*this));  // ends as ~book does, in a forked child too
  engine_ = std::move(other.engine_);
  return *this;
}

book::~book() {
  // In a forked child the connections, the thread and the lease are the parent's.
  if (engine_ && engine_->forked()) static_cast<void>(engine_.release());
}

void book::migrate() { engine_->migrate(); }

std::vector<migration_info> book::migrations() const { return engine_->migrations(); }

start_result book::start(process const& name, key const& run_key, start_options options) {
  // Nothing else does between two runs.
  if (engine_->borrowed()) engine_->renew();
  return engine_->runs().start(name, run_key, options);
}

external_transaction book::join(::sqlite3& yours) { return join_to(yours, *engine_); }
external_transaction book::join(::pg_conn& yours) { return join_to(yours, *engine_); }
external_transaction book::join(::st_mysql& yours) { return join_to(yours, *engine_); }

lease_state book::renew() { return engine_->renew() ? lease_state::held : lease_state::lost; }

std::optional<run> book::attach(std::string_view token) { return engine_->runs().attach(token); }

std::vector<run_info> book::runs(runs_query const& query) const {
  return core::list_runs(engine_->ready(), query);
}

std::optional<run_detail> book::find(process const& name, key const& run_key) const {
  return core::find_run(engine_->ready(), name, run_key);
}

book_status book::status(status_depth depth) const {
  return work::look_at_book(engine_->ready(), depth);
}

std::vector<holder_info> book::holders(holders_query const& query) const {
  auto const ended = query.all ? core::ended_holders::included : core::ended_holders::left_out;
  return core::look_at_work(engine_->ready(), ended).holders;
}

std::vector<problem> book::problems(problem_options const& options) const {
  return work::find_problems(*engine_, options);
}

std::vector<alert> book::look_for_alerts(alert_options const& options, alert_writer const& write) {
  return work::look_for_alerts(*engine_, options, write);
}

change_outcome book::release(process const& name, key const& run_key, audit_note const& note) {
  return core::release_run(engine_->ready(), name, run_key, note);
}

change_outcome book::restart(process const& name, key const& run_key, audit_note const& note) {
  return core::restart_run(engine_->ready(), name, run_key, note);
}

change_outcome book::resolve(process const& name, key const& run_key, resolution const& resolution,
                             audit_note const& note) {
  return core::resolve_step(engine_->ready(), name, run_key, resolution, note);
}

queue book::make_queue(std::string_view name, queue_options const& options) {
  auto const with = engine_->ready();
  return daybook::queue(daybook::queues::make(with, engine_->lease(), name, options));
}

queue book::make_queue(std::string_view name, queue_options const& options,
                       audit_note const& note) {
  auto const with = engine_->ready();
  return daybook::queue(daybook::queues::make(with, engine_->lease(), name, options, &note));
}

std::optional<queue> book::queue(std::string_view name) const {
  auto const with = engine_->ready();
  auto inside = daybook::queues::open(with, engine_->lease(), name);
  if (!inside) return std::nullopt;
  return daybook::queue(std::move(inside));
}

std::vector<std::string> book::queues() const { return daybook::queues::names(engine_->ready()); }

schedule book::make_schedule(std::string_view name, cron const& when,
                             schedule_options const& options) {
  return daybook::schedule(daybook::schedules::make(engine_->ready(), name, when, options));
}

std::optional<schedule> book::schedule(std::string_view name) const {
  auto const with = engine_->ready();
  daybook::schedules::zones here;
  if (!daybook::schedules::look(with, name, here)) return std::nullopt;
  return daybook::schedule(std::make_shared<daybook::schedules::store>(with, std::string(name)));
}

std::vector<schedule_info> book::schedules() const {
  daybook::schedules::zones here;
  std::vector<schedule_info> out;
  for (auto const& one : daybook::schedules::all(engine_->ready(), here)) {
    if (one.state != schedule_state::removed) out.push_back(daybook::schedules::info_of(one));
  }
  return out;
}

aggregation book::make_aggregation(std::string_view name, aggregation_options const& options) {
  return aggregation(daybook::aggregations::make(engine_->ready(), name, options));
}

std::vector<std::string> book::aggregations() const {
  return daybook::aggregations::names(engine_->ready());
}

planner book::make_planner(std::string_view name, planner_options const& options) {
  return daybook::planner(daybook::planners::make(work::surroundings_of(*engine_), name, options));
}

std::optional<planner> book::planner(std::string_view name) const {
  auto inside = daybook::planners::open(work::surroundings_of(*engine_), name);
  if (!inside) return std::nullopt;
  return daybook::planner(std::move(inside));
}

std::optional<planner> book::planner(std::string_view name, planner_options const& declared) const {
  auto inside = daybook::planners::open(work::surroundings_of(*engine_), name, declared);
  if (!inside) return std::nullopt;
  return daybook::planner(std::move(inside));
}

std::vector<std::string> book::planners() const {
  return daybook::planners::names(engine_->ready());
}

intake book::make_intake(std::string_view name, intake_options const& options) {
  return daybook::intake(daybook::intakes::make(work::dependencies_of(*engine_), name, options));
}

std::optional<intake> book::intake(std::string_view name) const {
  auto inside = daybook::intakes::open(work::dependencies_of(*engine_), name);
  if (!inside) return std::nullopt;
  return daybook::intake(std::move(inside));
}

std::vector<std::string> book::intakes() const { return daybook::intakes::names(engine_->ready()); }

prune_report book::prune(prune_options const& options, audit_note const& note) {
  return core::prune_history(engine_->ready(), options, note);
}

std::vector<change_info> book::changes(process const& name, key const& run_key) const {
  return core::list_changes(engine_->ready(), name.str(), run_key.str());
}

std::vector<change_info> book::changes(changes_query const& query) const {
  return core::list_changes(engine_->ready(), query);
}

std::string book::make_token(token_options const& options, audit_note const& note) {
  return core::make_token(engine_->ready(), options, note);
}

std::optional<token_info> book::check_token(std::string_view text, token_kind kind) {
  return core::check_token(engine_->ready(), text, kind);
}

std::vector<token_info> book::tokens() const { return core::list_tokens(engine_->ready()); }

bool book::revoke_token(std::string_view id, audit_note const& note) {
  return core::revoke_token(engine_->ready(), id, note);
}

std::vector<check_result> book::doctor() const {
  auto out = core::examine(engine_->bare());
  // Without a book, with another version's, or where a table of it is missing, queues tell nothing.
  if (out.front().severity != severity::ok || out[1].severity != severity::ok) return out;
  auto const more = daybook::queues::examine(engine_->ready(), engine_->lease());
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

void book::transact(std::function<void(transaction&)> const& body) {
  auto const with = engine_->bare();
  try {
    core::transact(with, {.name = "user"}, [&](db::session& session) {
      transaction tx(session, with.user_sql, {});
      body(tx);
      return core::decision::commit;
    });
  } catch (core::lost_reply const& e) {
    throw error(e);  // in a step's body it must not be taken for the step's own
  }
}

std::string const& book::url() const noexcept { return engine_->where().shown; }

std::string_view book::dialect() const noexcept { return engine_->speaks().name; }

}  // namespace v1
}  // namespace daybook
