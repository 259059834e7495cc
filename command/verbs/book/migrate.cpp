// daybook migrate: makes the book's tables, shows which are made, prints their SQL.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace command {

namespace {

database read_migrate(CLI::App& app, arguments const& given) {
  database_options where;
  add_database_options(app, where);
  parse(app, given);
  return resolve(where);
}

/// A book to ask for its migrations. Looking must not leave an empty SQLite file behind.
daybook::book look_at(database where) {
  if (file_missing(where)) {
    say("there is no such SQLite file yet; 'daybook migrate up' makes it");
    where.url = "sqlite::memory:";
  }
  return open_book(where, {}, when_missing::look);
}

std::size_t applied_in(std::vector<daybook::migration_info> const& all) {
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](auto const& one) { return one.applied; }));
}

}  // namespace

int migrate_up(arguments const& given) {
  CLI::App app{"Makes the book's tables, or brings them to this version. Again does no harm.",
               "daybook migrate up"};
  auto const where = read_migrate(app, given);
  auto book = open_book(where, {}, when_missing::create);
  auto const before = applied_in(book.migrations());
  book.migrate();
  auto const all = book.migrations();
  auto const now = applied_in(all);
  say(now == before
          ? fmt::format("{}: up to date, version {}", printable(book.url()), now)
          : fmt::format("{}: migrated from version {} to {}", printable(book.url()), before, now));
  return exit_code::done;
}

int migrate_status(arguments const& given) {
  CLI::App app{"Shows every migration, and whether this database has it.",
               "daybook migrate status"};
  bool json = false;
  add_json(app, json);
  auto const all = look_at(read_migrate(app, given)).migrations();
  table rows({"VERSION", "NAME", "STATE"});
  for (auto const& one : all) {
    if (json) {
      print_json({{"version", one.version}, {"name", one.name}, {"applied", one.applied}});
    } else {
      rows.add({std::to_string(one.version), one.name, one.applied ? "applied" : "pending"});
    }
  }
  if (!json) rows.print();
  return exit_code::done;
}

int migrate_sql(arguments const& given) {
  CLI::App app{"Prints the SQL of every migration, for this database, to read and to keep.",
               "daybook migrate sql"};
  for (auto const& one : look_at(read_migrate(app, given)).migrations()) {
    print(fmt::format("-- migration {}: {}\n{}{}", one.version, one.name, one.text,
                      one.text.ends_with('\n') ? "" : "\n"));
  }
  return exit_code::done;
}

}  // namespace command
