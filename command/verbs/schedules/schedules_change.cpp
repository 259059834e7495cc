// daybook schedules trigger, retry, pause, resume, remove: what a person does, with who and why.
#include "cli/dates.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/operator_input.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "verbs/schedules/schedule_verbs.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string>

namespace command {

namespace {

constexpr auto no_such_schedule = "\nExit codes: 66 when there is no such schedule.";

struct schedule_request {
  std::string name;
  operator_input by;
  database_options where;
};

void add_schedule(CLI::App& app, schedule_request& request) {
  app.add_option("NAME", request.name, "The schedule")->required();
}

void add_rest(CLI::App& app, schedule_request& request) {
  add_reason(app, request.by);
  add_database_options(app, request.where);
}

void tell(schedule_request const& request, bool changed, std::string_view did,
          std::string_view was_so) {
  say(fmt::format("{}: {}", printable(request.name), changed ? did : was_so));
}

}  // namespace

int schedules_trigger(arguments const& given) {
  CLI::App app{"Asks for a tick now, launched by the next daemon that looks; prints the tick.",
               "daybook schedules trigger"};
  app.footer(
      "\nIts window ends now, and the next one's begins there. Also where it is paused.\n"
      "\nExit codes: 66 when there is no such schedule.");
  schedule_request request;
  add_schedule(app, request);
  add_rest(app, request);
  parse(app, given, "NAME [options]");
  auto book = open_book(resolve(request.where));
  print(instant(must_have(book, request.name).trigger(request.by.remark())) + "\n");
  return exit_code::done;
}

int schedules_retry(arguments const& given) {
  CLI::App app{"Makes a tick that failed due again, in its own window, with no failure counted.",
               "daybook schedules retry"};
  app.footer(
      "\nExit codes: 65 TICK is no instant, 66 no such schedule, or no such tick that failed.");
  schedule_request request;
  std::string tick;
  add_schedule(app, request);
  app.add_option("TICK", tick, "Which, as `schedules ticks` prints it")->required();
  add_rest(app, request);
  parse(app, given, "NAME TICK [options]");
  auto const at = instant_from(tick);
  auto book = open_book(resolve(request.where));
  if (!must_have(book, request.name).retry(at, request.by.remark())) {
    throw complaint(exit_code::missing,
                    fmt::format("{}: no tick {} that failed; see daybook schedules ticks {} "
                                "--state failed",
                                printable(request.name), instant(at), printable(request.name)));
  }
  say(fmt::format("{}: {} is due", printable(request.name), instant(at)));
  return exit_code::done;
}

int schedules_pause(arguments const& given) {
  CLI::App app{"Stops a schedule from being launched until `resume`; what runs goes on.",
               "daybook schedules pause"};
  app.footer(
      "\nTicks that pass meanwhile are skipped, and are in the next one's window. What is asked "
      "for\n"
      "with `trigger` is launched.\n\nExit codes: 66 when there is no such schedule.");
  schedule_request request;
  add_schedule(app, request);
  add_rest(app, request);
  parse(app, given, "NAME [options]");
  auto book = open_book(resolve(request.where));
  tell(request, must_have(book, request.name).pause(request.by.remark()), "paused",
       "not active, nothing to do");
  return exit_code::done;
}

int schedules_resume(arguments const& given) {
  CLI::App app{"Ends a pause.", "daybook schedules resume"};
  app.footer(no_such_schedule);
  schedule_request request;
  add_schedule(app, request);
  add_rest(app, request);
  parse(app, given, "NAME [options]");
  auto book = open_book(resolve(request.where));
  tell(request, must_have(book, request.name).resume(request.by.remark()), "active",
       "not paused, nothing to do");
  return exit_code::done;
}

int schedules_remove(arguments const& given) {
  CLI::App app{"Ends a schedule: no more ticks. What runs goes on, and its ticks are kept.",
               "daybook schedules remove"};
  app.footer(
      "\nTake it out of daybook.toml first: a daemon that starts, or reads the file again, makes "
      "it\n"
      "again. It then goes on where it was.\n\nExit codes: 66 when there is no such schedule.");
  schedule_request request;
  add_schedule(app, request);
  add_yes(app, request.by);
  add_rest(app, request);
  parse(app, given, "NAME [options]");
  auto book = open_book(resolve(request.where));
  auto found = must_have(book, request.name);
  make_sure(request.by, "schedules remove",
            fmt::format("{}: no more ticks of '{}': sure?", printable(request.name),
                        printable(found.info().cron)));
  tell(request, found.remove(request.by.remark()), "removed", "removed before, nothing to do");
  return exit_code::done;
}

}  // namespace command
