// The composition root: the only file that sees the drivers and the rooms above them together.
#include "core/doctor.hpp"
#include "core/inspect.hpp"
#include "core/transact.hpp"
#include "drivers/drivers.hpp"
#include "base/uuid.hpp"
#include "work/engine.hpp"

#include <daybook/book.hpp>
#include <daybook/error.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {

namespace {

work::driver driver_of(db::url const& to) {
  switch (to.scheme) {
    case db::scheme::sqlite:
      return {&drivers::sqlite_dialect(), db::placeholder::question_digit,
              [to](auto const& options) { return drivers::connect_sqlite(to, options); }};
    case db::scheme::postgres:
      return {&drivers::postgres_dialect(), db::placeholder::dollar,
              [to](auto const& options) { return drivers::connect_postgres(to, options); }};
    case db::scheme::mysql:
      return {&drivers::mysql_dialect(), db::placeholder::question,
              [to](auto const& options) { return drivers::connect_mysql(to, options); }};
  }
  throw error({.kind = fault::internal}, "a scheme without a driver");
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
  auto how = driver_of(where);
  engine_ = std::make_unique<work::engine>(std::move(where), std::move(options), std::move(how));
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

started book::start(process const& name, key const& piece, start_options options) {
  return engine_->runs().start(name, piece, options);
}

std::optional<run> book::attach(std::string_view token) { return engine_->runs().attach(token); }

std::vector<run_info> book::runs(runs_query const& query) const {
  return core::list_runs(engine_->ready(), query);
}

std::optional<run_detail> book::find(process const& name, key const& piece) const {
  return core::find_run(engine_->ready(), name, piece);
}

std::vector<finding> book::doctor() const { return core::examine(engine_->bare()); }

void book::transact(std::function<void(transaction&)> const& body) {
  auto const with = engine_->bare();
  core::transact(with, {.name = "user"}, [&](db::session& on) {
    transaction tx(on, with.user_sql);
    body(tx);
    return core::decision::commit;
  });
}

std::string const& book::url() const noexcept { return engine_->where().shown; }

std::string_view book::dialect() const noexcept { return engine_->speaks().name; }

}  // namespace v1
}  // namespace daybook
