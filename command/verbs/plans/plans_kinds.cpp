// daybook plans grid, reopen: periods of windows; sweeps, sweep, page: pages of sweeps.
#include "cli/dates.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "verbs/plans/plan_verbs.hpp"
#include "wire/plans.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace command {

namespace {

using json = nlohmann::ordered_json;

constexpr auto wrong_kind = "\nExit codes: 65 a plan of another kind, 66 no such plan.";

}  // namespace

int plans_grid(arguments const& given) {
  CLI::App app{"Lists the periods of a window: missing, waiting, running, done or failed.",
               "daybook plans grid"};
  app.footer(wrong_kind);
  plan_request request;
  daybook::grid_query query;
  std::string from;
  std::string to;
  bool as_json = false;
  add_json(app, as_json);
  app.add_option("--from", from, "Periods from this instant on")->type_name("INSTANT");
  app.add_option("--to", to, "That are over by this instant (now)")->type_name("INSTANT");
  app.add_flag("--newest-first", query.newest_first, "The newest first");
  add_limit(app, query.limit);
  add_plan(app, request);
  parse(app, given, "NAME [options]");
  if (!from.empty()) query.from = instant_from(from);
  if (!to.empty()) query.to = instant_from(to);
  auto const of = find_plan(request);
  table rows({"PERIOD", "STATE", "LAUNCHES", "LAUNCHED", "DONE", "REMARK"});
  for (auto const& one : of.plan.grid(query)) {
    if (as_json) {
      print_json(json_of(one));
      continue;
    }
    rows.add({printable(one.key), std::string(daybook::word_of(one.state)),
              std::to_string(one.launches), seconds_of(one.launched), seconds_of(one.done),
              printable(one.remark)});
  }
  if (!as_json) {
    rows.print();
    say(fmt::format("{}: done up to {}", printable(request.name), instant(of.plan.watermark())));
  }
  return exit_code::done;
}

int plans_reopen(arguments const& given) {
  CLI::App app{"Has a period of a window launched once more: data came late.",
               "daybook plans reopen"};
  app.footer(
      "\nThe next pass launches it, whatever the rule is; where its task is under way, after "
      "that.\n"
      "\nExit codes: 65 a plan of another kind, 66 no such plan, or no such period that was "
      "launched.");
  plan_request request;
  std::string period;
  add_plan(app, request);
  app.add_option("PERIOD", period, "Which, as `plans grid` prints it")->required();
  add_reason(app, request.by);
  parse(app, given, "NAME PERIOD [options]");
  auto of = find_plan(request);
  if (!of.plan.reopen(daybook::key(period), request.by.remark())) {
    throw complaint(
        exit_code::missing,
        fmt::format("{}: no period {} that was launched and is not reopened already; "
                    "see daybook plans grid {}",
                    printable(request.name), printable(period), printable(request.name)));
  }
  say(fmt::format("{}: {} is reopened", printable(request.name), printable(period)));
  return exit_code::done;
}

int plans_sweeps(arguments const& given) {
  CLI::App app{"Lists the sweeps of a plan, the newest first.", "daybook plans sweeps"};
  app.footer(wrong_kind);
  plan_request request;
  int limit = 10;
  bool as_json = false;
  add_json(app, as_json);
  add_limit(app, limit);
  add_plan(app, request);
  parse(app, given, "NAME [options]");
  table rows({"SWEEP", "STATE", "PAGES", "DONE", "FAILED", "ROWS", "LATE", "VANISHED", "STARTED",
              "ENDED"});
  for (auto const& one : find_plan(request).plan.sweeps(limit)) {
    if (as_json) {
      print_json(json_of(one));
      continue;
    }
    rows.add({std::to_string(one.number), std::string(daybook::word_of(one.state)),
              std::to_string(one.pages), std::to_string(one.done), std::to_string(one.failed),
              std::to_string(one.rows), std::to_string(one.late), std::to_string(one.vanished),
              seconds_of(one.started), seconds_of(one.ended)});
  }
  if (!as_json) rows.print();
  return exit_code::done;
}

int plans_sweep(arguments const& given) {
  CLI::App app{"Begins the next sweep of a plan; passes cut its pages.", "daybook plans sweep"};
  app.footer("\nExit codes: 65 a plan of another kind, 66 no such plan, 75 one is under way.");
  plan_request request;
  add_plan(app, request);
  add_reason(app, request.by);
  parse(app, given, "NAME [options]");
  auto of = open_plan(request);
  if (!of.plan.sweep_now(request.by.remark())) {
    throw complaint(exit_code::busy,
                    fmt::format("{}: a sweep is under way; see daybook plans sweeps {}",
                                printable(request.name), printable(request.name)));
  }
  say(fmt::format("{}: the next sweep begins with the next pass", printable(request.name)));
  return exit_code::done;
}

int plans_page(arguments const& given) {
  CLI::App app{"Prints the rows that one task of a sweep stands for: a key per line.",
               "daybook plans page"};
  app.footer(
      "\nA key of several columns is a JSON array. Rows that are gone meanwhile are left out, "
      "unless\n--seen.\n\nExit codes: 65 a plan of another kind, 66 no such plan, or page.");
  plan_request request;
  std::string task;
  bool seen = false;
  bool as_json = false;
  app.add_flag("--seen", seen, "As they were when the page was cut");
  app.add_flag("--json", as_json, "Each as a JSON array");
  add_plan(app, request);
  app.add_option("TASK", task, "The key of its task")->required();
  parse(app, given, "NAME TASK [options]");
  auto const of = find_plan(request);
  auto const page = of.plan.page(daybook::key(task));
  if (!page) {
    throw complaint(
        exit_code::missing,
        fmt::format("{}: {} is none of its pages; see daybook tasks list {}",
                    printable(request.name), printable(task), printable(of.plan.options().queue)));
  }
  for (auto const& one : seen ? page->keys() : page->present()) {
    if (as_json || one.size() != 1) {
      print(json(one).dump() + "\n");
    } else {
      print(one.front() + "\n");
    }
  }
  return exit_code::done;
}

}  // namespace command
