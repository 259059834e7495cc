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

[[noreturn]] void bad(store const& of, synced_table const& what, std::string const& why) {
  throw error({.kind = error_code::bad_argument}, "queue '" + of.name() + "' cannot follow " +
                                                      what.table + "." + what.key + ": " + why);
}

void check_table(store const& of, synced_table const& what, tables::table const& found) {
  if (found.what == tables::sort::view || found.what == tables::sort::other) {
    bad(of, what, "that is no table of rows, and has no triggers for them");
  }
  if (!found.transactional) {
    bad(of, what, "its engine has no transactions: convert the table to InnoDB");
  }
}

void check_column(store const& of, synced_table const& what, tables::table const& in,
                  tables::column const& found) {
  if (!tables::can_be_key(found)) {
    bad(of, what,
        "a column of type " + found.type + " can be no key; integers, texts, uuids and dates can");
  }
  if (found.nullable) bad(of, what, "the column may be null: declare it 'not null'");
  std::array<std::string, 1> const alone{what.key};
  if (auto const unique = in.unique(alone); !unique.holds) {
    bad(of, what,
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

conversion conversion_of(core::context const& with, tables::table const& in,
                         std::string const& column) {
  conversion out;
  core::read(with, [&](db::session& on) {
    auto const found = db::run(on, with.sql["watch.conversion"], {in.schema, in.name, column});
    decode(found.row(0)[0], out.key_from);
    decode(found.row(0)[1], out.key_to);
    decode(found.row(0)[2], out.mark_from);
    decode(found.row(0)[3], out.mark_to);
  });
  return out;
}

/// SQL for whether a value, whose key is `key`, is a key of ours.
std::string ok(core::context const& with, tables::column const& of, std::string const& value,
               std::string const& key) {
  auto const type = of.what == tables::kind::integer ? "integer" : "text";
  return "(" + with.sql.text_of("watch.typed", {{"value", value}, {"type", type}}) + " and " +
         tables::is_key(with, key) + ")";
}

/// " of" the column, so that updates of others cost nothing. Empty where a statement need not name
/// it to change its value: one that the engine generates, and SQLite's row number with its aliases.
std::string of_key(tables::table const& in, tables::column const& key, std::string const& bare) {
  bool const number = std::any_of(in.indexes.begin(), in.indexes.end(), [&](auto const& one) {
    return one.name == "rowid" && std::count(one.columns.begin(), one.columns.end(), key.name) > 0;
  });
  return key.generated || number ? "" : " of " + bare;
}

/// In the names of its triggers: other books may follow the same table.
std::string own_of(store const& of) {
  return std::to_string(of.present().id) + "_" +
         base::digest({of.with().book_id}).substr(0, digits_of_book);
}

struct triggers {
  std::int64_t here = 0;      ///< on the table of that name
  std::int64_t anywhere = 0;  ///< a table that is renamed keeps them
};

triggers triggers_of(store const& of, synced_table const& what) {
  auto const& with = of.with();
  triggers out;
  core::read(with, [&](db::session& on) {
    auto const table = tables::named(with, on, what.table);
    auto const start = with.sql.prefix() + "watch_" + own_of(of) + "_";
    auto const found = db::run(on, with.sql["watch.triggers"], {table.schema, table.name, start});
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

std::optional<remembered> look_up(store const& of) {
  std::optional<remembered> out;
  core::read(of.with(), [&](db::session& on) {
    out.reset();
    auto const found = db::run(on, of.with().sql["watch.look"], {of.present().id});
    if (found.size() == 0) return;
    auto const row = found.row(0);
    out = remembered{{db::get<std::string>(row[0]), db::get<std::string>(row[1])},
                     db::get<std::optional<std::int64_t>>(row[2]),
                     db::get<std::optional<std::int64_t>>(row[3])};
  });
  return out;
}

void need_no_triggers(store const& of, synced_table const& what) {
  if (triggers_of(of, what).anywhere == 0) return;
  throw error({.kind = error_code::bad_argument},
              "queue '" + of.name() + "' follows " + what.table + "." + what.key +
                  " by triggers: uninstall them first, or it would go on doing so");
}

void change(store const& of, std::string_view statement, std::initializer_list<value> values) {
  core::insist(
      [&] { core::write(of.with(), {.name = "watch"}, of.with().sql[statement], values); });
}

/// The same as somebody's change of the queue.
void change(store const& of, audit_note const* by, std::string_view action, std::string const& what,
            std::string_view statement, std::initializer_list<value> values) {
  if (by == nullptr) return change(of, statement, values);
  write_down(of.with(), of.name(), action, what, *by,
             [&](db::session& on) { db::run(on, of.with().sql[statement], values); });
}

std::string text_of(synced_table const& of) { return of.table + "." + of.key; }

struct schemas {
  std::string session;
  std::string book;
};

schemas schemas_of(core::context const& with) {
  schemas out;
  out.book = with.sql.fill("{schema}");
  core::read(with, [&](db::session& on) { out.session = on.schema(); });
  return out;
}

}  // namespace

followed look_at(store const& of, synced_table const& what) {
  auto const& with = of.with();
  followed out{tables::look(with, what.table), what.key, {}};
  check_table(of, what, out.table);
  auto const& column = tables::need(out.table, what.key, "queue '" + of.name() + "'");
  check_column(of, what, out.table, column);
  auto const bare = tables::quoted(with.dialect, what.key);
  auto const as = conversion_of(with, out.table, what.key);
  auto const new_key = tables::key_of(with, column, "new." + bare);
  auto const here = of.present();
  auto const schemas = schemas_of(with);
  bool const one_schema = schemas.session == schemas.book && schemas.book == out.table.schema;
  auto const before = [&](std::string const& schema) {
    return one_schema ? std::string() : tables::quoted(with.dialect, schema) + ".";
  };
  out.sql = {
      {"id", std::to_string(here.id)},
      {"own", own_of(of)},
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
db::holes place_of(store const& of, synced_table const& what) {
  db::holes out{{"id", std::to_string(of.present().id)}, {"own", own_of(of)}};
  core::read(of.with(), [&](db::session& on) {
    auto const table = tables::named(of.with(), on, what.table);
    out["place"] = tables::quoted(of.with().dialect, table.schema);
  });
  return out;
}

/// As many as are made.
bool all_are(core::context const& with, std::int64_t there) {
  std::int64_t all = 0;
  for (auto const& [when, text] : with.sql.shapes().find("watch.install")->second.parts) {
    if (text.starts_with("create trigger") || text.starts_with("create or replace trigger")) ++all;
  }
  return there == all;
}

std::string printed(core::context const& with, db::entry const& what) {
  bool const delimited = with.dialect.asks_for_delimiter;
  std::string out = delimited ? "delimiter //\n" : "";
  for (auto const& one : what.parts) {
    out += one.what.text;
    out += delimited ? "\n//\n" : ";\n";
  }
  return out + (delimited ? "delimiter ;\n" : "");
}

}  // namespace

watcher::watcher(std::shared_ptr<store> of, synced_table what)
    : of_(std::move(of)), what_(std::move(what)) {}

watch_info watcher::info() const {
  auto const found = look_up(*of_);
  watch_info out{what_, false, std::nullopt};
  if (found && found->reconciled_us) {
    out.reconciled = db::time_of(*found->reconciled_us);
  }
  out.installed = all_are(of_->with(), triggers_of(*of_, what_).here);
  return out;
}

bool watcher::lost_triggers() const {
  auto const found = look_up(*of_);
  return found && found->installed_us && !all_are(of_->with(), triggers_of(*of_, what_).here);
}

std::string watcher::trigger_sql() const {
  return printed(of_->with(), of_->with().sql.made("watch.install", look_at(*of_, what_).sql));
}

std::string watcher::drop_sql() const {
  return printed(of_->with(), of_->with().sql.made("watch.uninstall", place_of(*of_, what_)));
}

/// The statements one by one; all or nothing where the engine can.
void watcher::execute(db::entry made) const {
  auto const& with = of_->with();
  with.check_process();
  // They wait for those who use the table, and are no short statements of ours.
  for (auto& one : made.parts) one.what.takes_its_time = true;
  auto const run_all = [&](db::session& on) {
    for (auto const& one : made.parts) on.run(one.what, {});
  };
  core::insist([&] {
    if (!with.dialect.ddl_in_transaction) return core::read(with, run_all);
    core::transact(with, {.name = "watch"}, [&](db::session& on) {
      run_all(on);
      return core::decision::commit;
    });
  });
}

/// After the statements, which end a transaction on MariaDB: killed in between, who did it does it
/// again.
void watcher::set_installed(bool installed, audit_note const* by) const {
  change(*of_, by, installed ? "install" : "uninstall", "triggers on " + text_of(what_),
         "watch.set_installed", {of_->present().id, std::int64_t{installed ? 1 : 0}});
}

void watcher::install(audit_note const* by) {
  auto const made = of_->with().sql.made("watch.install", look_at(*of_, what_).sql);
  // Another table has the name now: those on the one that had it would go on.
  if (auto const there = triggers_of(*of_, what_); there.anywhere > there.here) uninstall(nullptr);
  execute(made);
  set_installed(true, by);
}

void watcher::uninstall(audit_note const* by) {
  execute(of_->with().sql.made("watch.uninstall", place_of(*of_, what_)));
  set_installed(false, by);
}

void check_kept(store const& of, synced_table const& what) {
  auto const options = of.present().options;
  if (options.in_order) bad(of, what, "its tasks are done in the order in which they were added");
  if (options.done_retention.count() == 0) return;
  bad(of, what,
      "it removes members that are done (forget_done), whose rows would bring them again");
}

std::shared_ptr<watcher> follow(std::shared_ptr<store> of, synced_table const& what,
                                audit_note const* by) {
  of->with().check_process();
  check_kept(*of, what);
  auto const wanted = look_at(*of, what);
  if (auto const there = look_up(*of)) {
    if (there->of.table == what.table && there->of.key == what.key) {
      return std::make_shared<watcher>(std::move(of), what);
    }
    need_no_triggers(*of, there->of);
  }
  change(*of, by, "watch", text_of(what), "watch.put", {of->present().id, what.table, what.key});
  return std::make_shared<watcher>(std::move(of), what);
}

std::shared_ptr<watcher> followed_by(std::shared_ptr<store> of) {
  of->with().check_process();
  auto found = look_up(*of);
  if (!found) return nullptr;
  return std::make_shared<watcher>(std::move(of), std::move(found->of));
}

bool unfollow(store& of, audit_note const* by) {
  of.with().check_process();
  auto const there = look_up(of);
  if (!there) return false;
  need_no_triggers(of, there->of);
  change(of, by, "unwatch", text_of(there->of), "watch.remove", {of.present().id});
  return true;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
