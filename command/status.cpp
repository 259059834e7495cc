// daybook status: the book at a glance.
#include "exit.hpp"
#include "format.hpp"
#include "options.hpp"
#include "verbs.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace command {

int status(arguments const& given) {
  CLI::App app{"The book at a glance: what is in hand, what failed, what waits for a person.",
               "daybook status"};
  database_options where;
  bool as_json = false;
  app.add_flag("--json", as_json, "One object, on one line");
  add_database_options(app, where);
  parse(app, given);
  auto const book = open_book(resolve(where));
  auto const now = book.status();
  if (as_json) {
    print_json({{"now", iso(now.now)},
                {"holders_alive", now.holders_alive},
                {"runs_in_hand", now.runs_in_hand},
                {"runs_abandoned", now.runs_abandoned},
                {"runs_overdue", now.runs_overdue},
                {"runs_succeeded", now.runs_succeeded},
                {"runs_failed", now.runs_failed},
                {"runs_interrupted", now.runs_interrupted},
                {"runs_unknown", now.runs_unknown}});
    return exit_code::done;
  }
  auto const line = [](std::string_view name, std::int64_t count, std::string_view note = {}) {
    print(fmt::format("{:<14}{:>8}{}{}\n", name, count, note.empty() || count == 0 ? "" : "  ",
                      count == 0 ? "" : note));
  };
  print(fmt::format("{}, {} by its clock\n\n", printable(book.url()), seconds_of(now.now)));
  line("processes", now.holders_alive, "alive");
  line("in hand", now.runs_in_hand);
  line("abandoned", now.runs_abandoned, "their process is dead: the next start takes them over");
  line("overdue", now.runs_overdue, "their deadline passed: the next start takes them over");
  line("interrupted", now.runs_interrupted, "the next start resumes them");
  line("failed", now.runs_failed, "daybook runs list --state failed");
  line("unknown", now.runs_unknown, "a person decides: daybook runs list --state unknown");
  line("succeeded", now.runs_succeeded);
  return exit_code::done;
}

}  // namespace command
