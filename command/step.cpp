// daybook step: one step of a run, by a command inside `daybook run`.
#include "attempt.hpp"
#include "child.hpp"
#include "exit.hpp"
#include "format.hpp"
#include "options.hpp"
#include "signals.hpp"
#include "supervise.hpp"
#include "verbs.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <utility>

#include <sys/prctl.h>

namespace command {

namespace {

constexpr auto help_after = R"(
Works only inside `daybook run`. A step that an earlier attempt at the run did is skipped: a line on
stderr, exit 0. The command is done at least once: it is recorded after it succeeded, so it must
bear being done again when the machine dies in between (DAYBOOK_IDEMPOTENCY_KEY stays the same).

Exit codes: the command's own, 128+N when signal N killed it (nothing is recorded then);
64 usage or not inside a run, 65 bad name, 69 done but not recorded for the database is gone,
79 the run was lost to another holder, 126 cannot execute, 127 command not found.)";

struct request {
  std::string name;
  std::string token;
  database where;
  arguments words;
};

request read(arguments const& given) {
  request out;
  database_options where;
  auto const split = at_double_dash(given);
  out.words = command_of(split, "step");
  CLI::App app{"Does one step of the run around it, once.", "daybook step"};
  app.footer(help_after);
  app.add_option("NAME", out.name, "The step; each of a run has a name of its own")->required();
  add_database_options(app, where);
  parse(app, split.before, "NAME [options] -- COMMAND [ARGUMENT...]");
  daybook::check_name("step name", out.name);
  char const* const token = std::getenv(token_variable);
  if (token == nullptr || *token == '\0') {
    throw complaint(exit_code::usage,
                    fmt::format("step: {} is not set: a step works only inside a run: "
                                "daybook run NAME -- COMMAND, and the command calls daybook step",
                                token_variable));
  }
  out.token = token;
  out.where = resolve(where);
  return out;
}

std::optional<daybook::run> attach(daybook::book& book, std::string const& token) {
  try {
    return book.attach(token);
  } catch (daybook::error const& e) {
    if (e.kind() != daybook::fault::bad_argument) throw;
    throw complaint(exit_code::usage, e.what());
  }
}

int record(daybook::run& run, std::string const& name) {
  auto const shown = printable(name);
  try {
    if (run.record(name)) return exit_code::done;
  } catch (daybook::error const& e) {
    say(fmt::format("step {}: done, but not recorded: {}; the next attempt does it again", shown,
                    printable(e.what())));
    return code_of(e.kind());
  }
  say(fmt::format("step {}: done, but not recorded: the run was lost to another holder; stop",
                  shown));
  return exit_code::lost;
}

int step_once(request const& what, interrupt& pass_on) {
  auto book = open_book(what.where);
  auto run = attach(book, what.token);
  if (!run) {
    say(
        fmt::format("step {}: not started: the run around it was lost to another holder, or has "
                    "ended; stop",
                    printable(what.name)));
    return exit_code::lost;
  }
  if (run->done(what.name)) {
    say(fmt::format("step {}: done before, skipped", printable(what.name)));
    return exit_code::done;
  }
  signals caught;
  child_end end;
  {
    child job(program_for(*run, what.name, what.where, what.words));
    // No limits: `run` ends its whole group, us with it, when the time or the run is over.
    end = supervise(job, caught, {});
  }
  pass_on = end.pass_on;
  return end.status.success() ? record(*run, what.name) : end.status.code();
}

}  // namespace

int step(arguments const& given) {
  // A link of the chain: when the script around us dies with `run`, so do we, and our command.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto const what = read(given);
  auto pass_on = interrupt::none;
  int const code = step_once(what, pass_on);
  pass_interrupt_on(pass_on);
  return code;
}

}  // namespace command
