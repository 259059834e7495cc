#include "core/admin/version.hpp"

#include "base/uuid.hpp"
#include "core/tx/transact.hpp"

#include <daybook/error.hpp>

#include <charconv>
#include <cstdint>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

constexpr auto patience = std::chrono::seconds{20};
constexpr std::string_view heading = "-- migration:";

int to_int(cell const& cell) {
  std::int64_t number = 0;
  decode(cell, number);
  return static_cast<int>(number);
}

std::optional<book_version> version_on(db::session& session, db::catalogue const& sql) {
  auto const exists = db::run(session, sql["book.exists"], {std::string_view(sql.prefix())});
  if (to_int(exists.row(0)[0]) == 0) return std::nullopt;
  auto const rows = db::run(session, sql["book.version"], {});
  if (rows.size() == 0) return std::nullopt;
  book_version found;
  auto const row = rows.row(0);
  found.version = to_int(row[0]);
  found.oldest = to_int(row[1]);
  decode(row[2], found.id);
  found.clock = to_int(row[3]) == 0 ? db::clock_kind::real : db::clock_kind::movable;
  return found;
}

/// "-- migration: 1 runs" and what follows it, up to the next.
migration_info read_migration(std::string_view block) {
  auto const line_end = block.find('\n');
  auto line = block.substr(heading.size(), line_end - heading.size());
  line.remove_prefix(line.find_first_not_of(' '));
  migration_info out;
  auto const [end, problem] = std::from_chars(line.data(), line.data() + line.size(), out.version);
  if (problem != std::errc{}) {
    throw error({.kind = error_code::internal}, "a migration without a number");
  }
  out.name = line.substr(static_cast<std::size_t>(end - line.data()) + 1);
  out.text = block.substr(line_end + 1);
  return out;
}

void apply(context const& context, migration_info const& info, db::clock_kind clock) {
  auto const id = base::new_uuid();
  // Where DDL commits by itself every statement may be run again: cut short, it is repeated.
  bool const together = context.dialect.ddl_in_transaction;
  if (!together) read(context, patience, [&](db::session& session) { session.script(info.text); });
  transact(context, {.name = "migrate", .patience = patience}, [&](db::session& session) {
    if (together) session.script(info.text);
    db::run(session, context.sql["book.create"],
            {id, std::int64_t{clock == db::clock_kind::movable ? 1 : 0}});
    db::run(session, context.sql["book.create_clock"], {});
    db::run(session, context.sql["book.advance"],
            {std::int64_t{info.version}, std::int64_t{oldest_beside}});
    return decision::commit;
  });
}

}  // namespace

std::optional<book_version> read_version(context const& context) {
  std::optional<book_version> found;
  read(context, patience, [&](db::session& session) { found = version_on(session, context.sql); });
  return found;
}

void check_version(std::optional<book_version> const& found, std::string_view where) {
  auto const refuse = [&](std::string const& reason) {
    throw error({.kind = error_code::configuration}, std::string(where) + ": " + reason);
  };
  if (!found || found->version == 0) {
    refuse("there is no book here: run 'daybook migrate up' (or call book::migrate())");
  } else if (found->version < library_version) {
    refuse("the book is of version " + std::to_string(found->version) + ", this program needs " +
           std::to_string(library_version) +
           ": run 'daybook migrate up' (or call book::migrate())");
  } else if (found->oldest > library_version) {
    refuse("the book is of version " + std::to_string(found->version) +
           ", which works with programs of version " + std::to_string(found->oldest) +
           " and later; this one is of version " + std::to_string(library_version) +
           ": install a newer Daybook");
  }
}

void check_joined(context const& context, db::session& session, std::string_view where) {
  auto const elsewhere = [&](bool is) {
    if (!is) return;
    throw error({.kind = error_code::bad_argument},
                "the joined transaction is on another database than the book " +
                    std::string(where) + ": join one on a connection to that");
  };
  auto const exists =
      db::run(session, context.sql["book.exists"], {std::string_view(context.sql.prefix())});
  elsewhere(to_int(exists.row(0)[0]) == 0);
  // It changes nothing; where there is one writer, the transaction is it from here on, or cannot
  // be, and the application hears so before it has done its work.
  if (context.dialect.one_writer)
    db::run(session, context.sql["book.advance"], {std::int64_t{0}, std::int64_t{0}});
  auto const rows = db::run(session, context.sql["book.version"], {});
  elsewhere(rows.size() == 0);
  std::string id;
  decode(rows.row(0)[2], id);
  elsewhere(id != context.book_id);
}

std::vector<migration_info> migrations(db::catalogue const& sql) {
  std::vector<migration_info> out;
  auto const text = sql.fill(sql.migrations_text());
  auto at = text.find(heading);
  while (at != std::string::npos) {
    auto const next = text.find(heading, at + heading.size());
    out.push_back(read_migration(std::string_view(text).substr(at, next - at)));
    at = next;
  }
  return out;
}

std::vector<std::string> tables(db::catalogue const& sql) {
  constexpr std::string_view before = "create table if not exists {";
  std::vector<std::string> out;
  auto const text = sql.migrations_text();
  for (auto at = text.find(before); at != text.npos; at = text.find(before, at)) {
    at += before.size();
    out.emplace_back(text.substr(at, text.find('}', at) - at));
  }
  return out;
}

void migrate(context const& context, std::string_view where, db::clock_kind clock) {
  auto found = read_version(context);
  if (found && found->version >= library_version) {
    check_version(found, where);
    return;
  }
  for (auto const& one : migrations(context.sql)) {
    if (found && one.version <= found->version) continue;
    // Two at once may collide, in the server's own catalogue also where a statement says "if not
    // exists"; each migration may be run again, and a lost reply is answered the same way.
    for (int tries = 0;; ++tries) {
      try {
        apply(context, one, clock);
        break;
      } catch (error const& e) {
        bool const collided =
            e.kind() == error_code::constraint || e.kind() == error_code::statement;
        if (tries == 5 || !(e.in_doubt() || collided)) throw;
        auto const now = read_version(context);
        if (now && now->version >= one.version) break;
        if (!e.in_doubt() && tries > 0 && e.kind() == error_code::statement) throw;
      }
    }
  }
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
