#include "attempt/attempt.hpp"

#include "cli/dates.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace command {

std::string name_of(daybook::process const& name, daybook::key const& piece) {
  if (piece == daybook::key{}) return printable(name.str());
  return fmt::format("{}, key {}", printable(name.str()), printable(piece.str()));
}

program program_for(daybook::run const& run, std::string_view step, database const& where,
                    arguments const& words) {
  return {.words = words,
          .environment = {{token_variable, run.token()},
                          {"DAYBOOK_PROCESS", run.process_name().str()},
                          {"DAYBOOK_KEY", run.run_key().str()},
                          {"DAYBOOK_DATE", run.date() ? text_of(*run.date()) : ""},
                          {"DAYBOOK_ATTEMPT", std::to_string(run.attempt())},
                          {"DAYBOOK_RESUMED", run.resumed() ? "1" : "0"},
                          {"DAYBOOK_IDEMPOTENCY_KEY", run.idempotency_key(step)},
                          {url_variable, where.url},
                          {"DAYBOOK_SCHEMA", where.schema},
                          {"DAYBOOK_PREFIX", where.prefix}}};
}

std::string token_around(std::string_view verb) {
  char const* const token = std::getenv(token_variable);
  if (token != nullptr && *token != '\0') return token;
  throw complaint(exit_code::usage,
                  fmt::format("{0}: {1} is not set: it works only inside a run: "
                              "daybook run NAME -- COMMAND, and the command calls daybook {0}",
                              verb, token_variable));
}

std::optional<daybook::run> attach(daybook::book& book, std::string const& token,
                                   std::string_view run_name) {
  try {
    auto run = book.attach(token);
    if (!run) {
      say(
          fmt::format("{}: not done: the run around it was lost to another holder, or has ended; "
                      "stop",
                      run_name));
    }
    return run;
  } catch (daybook::error const& e) {
    if (e.kind() != daybook::error_code::bad_argument) throw;
    throw complaint(exit_code::usage, e.what());
  }
}

arguments command_of(split_arguments const& given, std::string_view verb) {
  if (!given.after) {
    auto const& flags = given.before;
    bool const help = std::any_of(flags.begin(), flags.end(),
                                  [](auto const& one) { return one == "--help" || one == "-h"; });
    if (help) return {};
    throw complaint(exit_code::usage,
                    fmt::format("{0}: put -- before the command: daybook {0} NAME -- "
                                "COMMAND (see daybook {0} --help)",
                                verb));
  }
  if (given.after->empty() || given.after->front().empty()) {
    throw complaint(exit_code::usage,
                    fmt::format("{0}: no command after -- (see daybook {0} --help)", verb));
  }
  return *given.after;
}

}  // namespace command
