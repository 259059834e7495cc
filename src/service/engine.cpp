#include "service/engine.hpp"

#include "base/limits.hpp"
#include "core/admin/version.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds shortest_lease = std::chrono::seconds{1};
constexpr milliseconds longest_lease = std::chrono::hours{24};

/// One for each hand-out that waits for work.
constexpr unsigned most_listeners = 1000;

/// A name that needs no quotes on any engine.
bool plain(std::string_view text) {
  auto const letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return !text.empty() && text.size() <= 40 && letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

book_options checked(book_options options) {
  base::limits const limits("book_options");
  limits.between("the lease", options.lease, shortest_lease, longest_lease);
  limits.between("connections", options.connections, 1, 1000);
  limits.between("async_threads", options.async_threads, 0, 1000);
  limits.between("connect_timeout", options.connect_timeout, milliseconds{1}, longest_lease);
  if (!plain(options.prefix)) {
    base::refuse_argument(
        "the table prefix must be 1 to 40 of a-z, 0-9 and _, not starting with a digit");
  }
  if (!options.schema.empty() && !plain(options.schema)) {
    base::refuse_argument(
        "the schema must be 1 to 40 of a-z, 0-9 and _, not starting with a digit");
  }
  return options;
}

/// A borrowed handle is its owner's thread's.
unsigned threads_for(book_options const& options, db::stock keeps) {
  if (keeps == db::stock::single) return 0;
  return options.async_threads != 0 ? options.async_threads : options.connections;
}

}  // namespace

engine::engine(db::url where, book_options options, driver driver)
    : where_(std::move(where)),
      options_(checked(std::move(options))),
      driver_(std::move(driver)),
      process_(base::process_id()),
      user_sql_(driver_.style),
      sessions_([this] { return driver_.connect(connecting()); }, options_.connections,
                driver_.keeps),
      listeners_([this] { return driver_.connect(connecting()); }, most_listeners),
      asynchronous_(threads_for(options_, driver_.keeps)) {
  if (where_.scheme == db::scheme::sqlite && !options_.schema.empty()) {
    base::refuse_argument(where_.shown + ": SQLite has no schemas: use a table prefix");
  }
  auto const first = sessions_.lend(options_.connect_timeout);
  schema_ = options_.schema.empty() ? first->schema() : options_.schema;
  bare_sql_ = std::make_unique<db::catalogue>(catalogue_of(db::clock_kind::real));
}

engine::~engine() {
  asynchronous_.close();
  if (!parts_) return;
  if (parts_->lease) parts_->lease->stop();
  parts_->background.reset();
}

db::connect_options engine::connecting() const {
  auto const lock = std::min<milliseconds>(options_.lease / 3, std::chrono::seconds{5});
  // A server that is there answers as fast as it connects, but for locks: a statement of ours may
  // have to wait for a few, one after the other.
  return {.connect_timeout = options_.connect_timeout,
          .lock_timeout = lock,
          .statement_timeout = milliseconds{0},
          .answer_timeout = options_.connect_timeout + 3 * lock,
          .idle_timeout = options_.lease};
}

db::connect_options engine::hurried() const {
  // ttl >= 3 renewals + 2 statements: a sixth for each leaves a sixth to spare.
  auto const sixth = std::min<milliseconds>(options_.lease / 6, std::chrono::seconds{5});
  auto out = connecting();
  out.connect_timeout = std::min(out.connect_timeout, sixth);
  out.statement_timeout = sixth;
  return out;
}

db::catalogue_options engine::catalogue_of(db::clock_kind clock) const {
  return {.dialect = driver_.about->name,
          .style = driver_.style,
          .real_clock = driver_.about->real_clock,
          .schema = schema_,
          .prefix = options_.prefix,
          .clock = clock,
          .compounds = driver_.about->compounds};
}

core::context engine::context_of(db::catalogue const& sql, std::string_view book_id) {
  core::context context{.sessions = sessions_,
                        .sql = sql,
                        .user_sql = user_sql_,
                        .dialect = *driver_.about,
                        .watch = options_.observer != nullptr ? *options_.observer : silent_,
                        .lease = options_.lease,
                        .process = process_,
                        .book_id = book_id,
                        .borrowed = borrowed(),
                        .asynchronous = &asynchronous_,
                        .listeners = driver_.keeps == db::stock::kept ? &listeners_ : nullptr,
                        .doorbells = &doorbells_,
                        .queues = &queues_};
  context.check_process();
  return context;
}

core::context engine::bare() { return context_of(*bare_sql_, {}); }

core::context engine::ready() {
  auto const& made = require();
  return context_of(made.sql, made.version.id);
}

core::runs& engine::runs() {
  auto& made = require();
  context_of(made.sql, made.version.id).check_process();
  return *made.starter;
}

core::holder& engine::lease() { return *require().lease; }

engine::parts& engine::require() {
  auto const with = bare();
  std::lock_guard const lock(guard_);
  if (parts_) return *parts_;
  auto const found = core::read_version(with);
  core::check_version(found, where_.shown);
  auto made = std::make_unique<parts>(
      parts{db::catalogue(catalogue_of(found->clock)), *found, nullptr, nullptr, nullptr});
  auto const full = context_of(made->sql, made->version.id);
  made->lease = std::make_unique<core::holder>(full);
  made->starter = std::make_unique<core::runs>(full, *made->lease);
  if (options_.renew_in_background && !borrowed()) {
    made->background = std::make_unique<lease_renewer>(
        *made->lease, [this] { return driver_.connect(hurried()); }, full.watch, options_.lease,
        driver_.about->one_writer, driver_.keeps);
  }
  parts_ = std::move(made);
  return *parts_;
}

void engine::look() {
  if (core::read_version(bare())) static_cast<void>(require());
}

void engine::check_joined(db::session& session) {
  core::check_joined(ready(), session, where_.shown);
}

void engine::migrate() {
  core::migrate(bare(), where_.shown,
                options_.movable_clock ? db::clock_kind::movable : db::clock_kind::real);
}

std::vector<migration_info> engine::migrations() {
  auto const with = bare();
  auto const found = core::read_version(with);
  auto all = core::migrations(with.sql);
  for (auto& one : all) one.applied = found && one.version <= found->version;
  return all;
}

bool engine::renew() {
  auto& made = require();
  if (made.background) return made.background->renew_now();
  auto session = sessions_.lend(options_.connect_timeout);
  bool const alive = made.lease->renew(*session) == core::renewal::renewed;
  if (alive) made.lease->disown_orphans(*session);
  made.lease->pass_deadlines(*session);
  return alive;
}

bool engine::clock_is_movable() { return require().version.clock == db::clock_kind::movable; }

}  // namespace work
}  // namespace v1
}  // namespace daybook
