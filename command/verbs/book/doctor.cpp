// daybook doctor: every precondition of the guarantees, as this database is set up.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "wire/book.hpp"

#include <daybook/book.hpp>
#include <daybook/words.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace command {

int doctor(arguments const& given) {
  CLI::App app{"Looks at every precondition of the guarantees, as this database is set up now.",
               "daybook doctor"};
  app.footer(
      "\nEach line: ok, warning or void; what was looked at; what was found; the remedy.\n"
      "Void means that the guarantees do not hold.\n"
      "\nExit codes: 0 when nothing is void, 78 when anything is.");
  database_options where;
  bool as_json = false;
  add_json(app, as_json);
  add_database_options(app, where);
  parse(app, given);
  table rows({"VERDICT", "WHAT", "FOUND", "REMEDY"});
  bool any_void = false;
  for (auto const& one : open_book(resolve(where)).doctor()) {
    any_void = any_void || one.severity == daybook::severity::failed;
    if (as_json) {
      print_json(json_of(one));
    } else {
      rows.add({std::string(daybook::word_of(one.severity)), printable(one.name),
                printable(one.found), printable(one.remedy)});
    }
  }
  if (!as_json) rows.print();
  return any_void ? exit_code::configuration : exit_code::done;
}

}  // namespace command
