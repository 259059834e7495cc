// What is remembered of the table that a queue follows, and its triggers.
#include "db/cells.hpp"
#include "queue/maintenance/watcher.hpp"

#include "base/digest.hpp"
#include "core/tx/transact.hpp"
#include "queue/members/people.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

constexpr std::size_t digits_of_book = 6;

[[noreturn]] void bad(store const& store, synced_table const& table, std::string const& why) {
  throw error({.kind = error_code::bad_argument}, "queue '" + store.name() + "' cannot follow " +
                                                      table.table + "." + table.key + ": " + why);
}

void check_table(store const& store, synced_table const& table, tables::table const& found) {
  if (found.what == tables::sort::view || found.what == tables::sort::other) {
    bad(store, table, "that is no table of rows, and has no triggers for them");
  }
  if (!found.transactional) {
    bad(store, table, "its engine has no transactions: convert the table to InnoDB");
  }
}

void check_column(store const& store, synced_table const& table, tables::table const& owner,
                  tables::column const& found) {
  if (!tables::can_be_key(found)) {
    bad(store, table,
        "a column of type " + found.type + " can be no key; integers, texts, uuids and dates can");
  }
  if (found.nullable) bad(store, table, "the column may be null: declare it 'not null'");
  std::array<std::string, 1> const alone{table.key};
  if (auto const unique = owner.unique(alone); !unique.holds) {
    bad(store, table,
        "its values need not be unique: " + (unique.remedy.empty()
                                                 ? "it wants a unique index over this column alone"
                                                 : unique.remedy));
  }
}

/// What the engine says of the column that no room below asks for.
struct conversion {
  std::optional<std::string> key_from, key_to;
  std::optional<std::string> mark_from, mark_to;
};

conversion conversion_of(core::context const& context, tables::table const& table,
                         std::string const& column) {
  conversion out;
  core::read(context, [&](db::session& session) {
    auto const found =
        db::run(session, context.sql["watch.conversion"], {table.schema, table.name, column});
    decode(found.row(0)[0], out.key_from);
    decode(found.row(0)[1], out.key_to);
    decode(found.row(0)[2], out.mark_from);
    decode(found.row(0)[3], out.mark_to);
  });
  return out;
}

/// SQL for whether a value, whose key is `key`, is a key of ours.
std::string ok(core::context const& context, tables::column const& column, std::string const& value,
               std::string const& key) {
  auto const type = column.what == tables::kind::integer ? "integer" : "text";
  return "(" + context.sql.text_of("watch.typed", {{"value", value}, {"type", type}}) + " and " +
         tables::is_key(context, key) + ")";
}

/// " of" the column, so that updates of others cost nothing. Empty where a statement need not name
/// it to change its value: one that the engine generates, and SQLite's row number with its aliases.
std::string of_key(tables::table const& table, tables::column const& key, std::string const& bare) {
  bool const number = std::any_of(table.indexes.begin(), table.indexes.end(), [&](auto const& one) {
    return one.name == "rowid" && std::count(one.columns.begin(), one.columns.end(), key.name) > 0;
  });
  return key.generated || number ? "" : " of " + bare;
}

/// In the names of its triggers: other books may follow the same table.
std::string own_of(store const& store) {
  return std::to_string(store.present().id) + "_" +
         base::digest({store.with().book_id}).substr(0, digits_of_book);
}

struct triggers {
  std::int64_t here = 0;      ///< on the table of that name
  std::int64_t anywhere = 0;  ///< a table that is renamed keeps them
};

triggers triggers_of(store const& store, synced_table const& synced) {
  auto const& with = store.with();
  triggers out;
  core::read(with, [&](db::session& session) {
    auto const table = tables::named(with, session, synced.table);
    auto const start = with.sql.prefix() + "watch_" + own_of(store) + "_";
    auto const found =
        db::run(session, with.sql["watch.triggers"], {table.schema, table.name, start});
    decode(found.row(0)[0], out.here);
    decode(found.row(0)[1], out.anywhere);
  });
  return out;
}

struct remembered {
  synced_table of;
  std::optional<std::int64_t> installed_us;
  std::optional<std::int64_t> reconciled_us;
};

std::optional<remembered> look_up(store const& store) {
  std::optional<remembered> out;
  core::read(store.with(), [&](db::session& session) {
    out.reset();
    auto const found = db::run(session, store.with().sql["watch.look"], {store.present().id});
    if (found.size() == 0) return;
    auto const row = found.row(0);
    out = remembered{{db::get<std::string>(row[0]), db::get<std::string>(row[1])},
                     db::get<std::optional<std::int64_t>>(row[2]),
                     db::get<std::optional<std::int64_t>>(row[3])};
  });
  return out;
}

void need_no_triggers(store const& store, synced_table const& table) {
  if (triggers_of(store, table).anywhere == 0) return;
  throw error({.kind = error_code::bad_argument},
              "queue '" + store.name() + "' follows " + table.table + "." + table.key +
                  " by triggers: uninstall them first, or it would go on doing so");
}

void change(store const& store, std::string_view statement, std::initializer_list<value> values) {
  core::insist(
      [&] { core::write(store.with(), {.name = "watch"}, store.with().sql[statement], values); });
}

/// The same as somebody's change of the queue.
void change(store const& store, audit_note const* note, std::string_view action,
            std::string const& detail, std::string_view statement,
            std::initializer_list<value> values) {
  if (note == nullptr) return change(store, statement, values);
  write_down(store.with(), store.name(), action, detail, *note,
             [&](db::session& session) { db::run(session, store.with().sql[statement], values); });
}

std::string text_of(synced_table const& table) { return table.table + "." + table.key; }

struct schemas {
  std::string session;
  std::string book;
};

schemas schemas_of(core::context const& context) {
  schemas out;
  out.book = context.sql.fill("{schema}");
  core::read(context, [&](db::session& session) { out.session = session.schema(); });
  return out;
}

}  // namespace

followed look_at(store const& store, synced_table const& table) {
  auto const& with = store.with();
  followed out{tables::look(with, table.table), table.key, {}};
  check_table(store, table, out.table);
  auto const& column = tables::need(out.table, table.key, "queue '" + store.name() + "'");
  check_column(store, table, out.table, column);
  auto const bare = tables::quoted(with.dialect, table.key);
  auto const as = conversion_of(with, out.table, table.key);
  auto const new_key = tables::key_of(with, column, "new." + bare);
  auto const here = store.present();
  auto const schemas = schemas_of(with);
  bool const one_schema = schemas.session == schemas.book && schemas.book == out.table.schema;
  auto const before = [&](std::string const& schema) {
    return one_schema ? std::string() : tables::quoted(with.dialect, schema) + ".";
  };
  out.sql = {
      {"id", std::to_string(here.id)},
      {"own", own_of(store)},
      {"source", out.table.sql},
      {"place", tables::quoted(with.dialect, out.table.schema)},
      {"own_schema", before(out.table.schema)},
      {"book_schema", before(schemas.book)},
      {"name", tables::quoted(with.dialect, out.table.name)},
      {"of_key", of_key(out.table, column, bare)},
      {"column", "t." + bare},
      {"key", tables::key_of(with, column, "t." + bare)},
      {"new_key", new_key},
      {"old_key", tables::key_of(with, column, "old." + bare)},
      {"new_ok", ok(with, column, "new." + bare, new_key)},
      {"page_ok", ok(with, column, "p.value", "p.k")},
      {"period_us", std::to_string(here.by.period_us)},
      {"grain_us", std::to_string(here.by.grain_us)},
      {"rounds", here.options.rounds ? "1" : "0"},
      {"on_new", std::to_string(static_cast<int>(here.options.new_member_policy))},
      {"segment_size", std::to_string(here.options.segment)},
      {"mark_from", as.mark_from.value_or("")},
      {"mark_to", as.mark_to.value_or("")},
      {"value", as.key_from ? *as.key_from + "m.member_key" + as.key_to.value_or("")
                            : tables::value_of(with, column, "m.member_key")},
  };
  return out;
}

namespace {

/// What dropping the triggers needs: the table or the column may be gone.
db::holes place_of(store const& store, synced_table const& synced) {
  db::holes out{{"id", std::to_string(store.present().id)}, {"own", own_of(store)}};
  core::read(store.with(), [&](db::session& session) {
    auto const table = tables::named(store.with(), session, synced.table);
    out["place"] = tables::quoted(store.with().dialect, table.schema);
  });
  return out;
}

/// As many as are made.
bool all_are(core::context const& context, std::int64_t there) {
  std::int64_t all = 0;
  for (auto const& [when, text] : context.sql.shapes().find("watch.install")->second.parts) {
    for (auto const* const words :
         {"create trigger", "create or replace trigger", "create /*M! or replace */ trigger"}) {
      if (text.starts_with(words)) ++all;
    }
  }
  return there == all;
}

std::string printed(core::context const& context, db::entry const& entry) {
  bool const delimited = context.dialect.asks_for_delimiter;
  std::string out = delimited ? "delimiter //\n" : "";
  for (auto const& one : entry.parts) {
    out += one.what.text;
    out += delimited ? "\n//\n" : ";\n";
  }
  return out + (delimited ? "delimiter ;\n" : "");
}

}  // namespace

watcher::watcher(std::shared_ptr<store> store, synced_table table)
    : store_(std::move(store)), table_(std::move(table)) {}

table_sync_info watcher::info() const {
  auto const found = look_up(*store_);
  table_sync_info out{table_, false, std::nullopt};
  if (found && found->reconciled_us) {
    out.reconciled = db::time_of(*found->reconciled_us);
  }
  out.installed = all_are(store_->with(), triggers_of(*store_, table_).here);
  return out;
}

bool watcher::lost_triggers() const {
  auto const found = look_up(*store_);
  return found && found->installed_us &&
         !all_are(store_->with(), triggers_of(*store_, table_).here);
}

std::string watcher::trigger_sql() const {
  return printed(store_->with(),
                 store_->with().sql.made("watch.install", look_at(*store_, table_).sql));
}

std::string watcher::drop_sql() const {
  return printed(store_->with(),
                 store_->with().sql.made("watch.uninstall", place_of(*store_, table_)));
}

/// The statements one by one; all or nothing where the engine can.
void watcher::execute(db::entry made) const {
  auto const& with = store_->with();
  with.check_process();
  // They wait for those who use the table, and are no short statements of ours.
  for (auto& one : made.parts) one.what.takes_its_time = true;
  auto const run_all = [&](db::session& session) {
    for (auto const& one : made.parts) session.run(one.what, {});
  };
  core::insist([&] {
    if (!with.dialect.ddl_in_transaction) return core::read(with, run_all);
    core::transact(with, {.name = "watch"}, [&](db::session& session) {
      run_all(session);
      return core::decision::commit;
    });
  });
}

/// After the statements, which end a transaction on MariaDB: killed in between, who did it does it
/// again.
void watcher::set_installed(bool installed, audit_note const* note) const {
  change(*store_, note, installed ? "install" : "uninstall", "triggers on " + text_of(table_),
         "watch.set_installed", {store_->present().id, std::int64_t{installed ? 1 : 0}});
}

void watcher::install(audit_note const* note) {
  auto const made = store_->with().sql.made("watch.install", look_at(*store_, table_).sql);
  // Another table has the name now: those on the one that had it would go on.
  if (auto const there = triggers_of(*store_, table_); there.anywhere > there.here)
    uninstall(nullptr);
  execute(made);
  set_installed(true, note);
}

void watcher::uninstall(audit_note const* note) {
  execute(store_->with().sql.made("watch.uninstall", place_of(*store_, table_)));
  set_installed(false, note);
}

void check_kept(store const& store, synced_table const& table) {
  auto const options = store.present().options;
  if (options.in_order)
    bad(store, table, "its tasks are done in the order in which they were added");
  if (options.done_retention.count() == 0) return;
  bad(store, table,
      "it removes members that are done (forget_done), whose rows would bring them again");
}

std::shared_ptr<watcher> follow(std::shared_ptr<store> store, synced_table const& table,
                                audit_note const* note) {
  store->with().check_process();
  check_kept(*store, table);
  auto const wanted = look_at(*store, table);
  if (auto const there = look_up(*store)) {
    if (there->of.table == table.table && there->of.key == table.key) {
      return std::make_shared<watcher>(std::move(store), table);
    }
    need_no_triggers(*store, there->of);
  }
  change(*store, note, "watch", text_of(table), "watch.put",
         {store->present().id, table.table, table.key});
  return std::make_shared<watcher>(std::move(store), table);
}

std::shared_ptr<watcher> followed_by(std::shared_ptr<store> store) {
  store->with().check_process();
  auto found = look_up(*store);
  if (!found) return nullptr;
  return std::make_shared<watcher>(std::move(store), std::move(found->of));
}

bool unfollow(store& store, audit_note const* note) {
  store.with().check_process();
  auto const there = look_up(store);
  if (!there) return false;
  need_no_triggers(store, there->of);
  change(store, note, "unwatch", text_of(there->of), "watch.remove", {store.present().id});
  return true;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
