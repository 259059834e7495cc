// daybook plans run, preview: a pass; and what it would do.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/progress_bar.hpp"
#include "cli/verbs.hpp"
#include "verbs/plans/plan_verbs.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>

namespace command {

namespace {

using json = nlohmann::ordered_json;

}  // namespace

int plans_run(arguments const& given) {
  CLI::App app{"Makes a pass of a plan now: launches what must exist and does not.",
               "daybook plans run"};
  app.footer(
      "\nWhere daybook.toml declares it, it is made first, or changed to what stands there, with "
      "its\n"
      "queue. A pass excludes all others of the plan, and goes on with one that died.\n"
      "SQL of a plan that no file declares, or that the book has otherwise, is not executed.\n"
      "\nExit codes: 0 done, 65 the declaration or a key, 66 no such plan, 75 somebody is at it,\n"
      "78 its SQL is not yours.");
  plan_request request;
  bool as_json = false;
  app.add_flag("--json", as_json, "What was done as one object");
  add_plan(app, request);
  parse(app, given, "NAME [options]");
  auto of = open_plan(request);
  progress_bar bar(printable(request.name));
  daybook::pass_options options;
  options.on_progress = [&bar](daybook::pass_report const& so_far) { bar.at(so_far.seen); };
  auto const sum = of.plan.pass(options);
  bar.wipe();
  if (!sum.ran) {
    auto const who = sum.holder ? fmt::format("{}, pid {}", sum.holder->node, sum.holder->pid)
                                : std::string("somebody");
    throw complaint(exit_code::busy,
                    fmt::format("{0}: {1} is at it; wait, or see daybook runs show 'plan {0}'",
                                printable(request.name), who));
  }
  if (as_json) {
    print_json({{"seen", sum.seen},
                {"launched", sum.launched},
                {"refused", sum.refused},
                {"present", sum.present},
                {"complete", sum.complete}});
  }
  say(fmt::format("{}: {}; {}", printable(request.name), text_of(sum), bar.pace(sum.seen)));
  return exit_code::done;
}

int plans_preview(arguments const& given) {
  CLI::App app{"Prints what a pass would launch and what not, and why; nothing is launched.",
               "daybook plans preview"};
  app.footer(
      "\nExit codes: 65 the declaration or a key, 66 no such plan, 78 its SQL is in no file of "
      "yours.");
  plan_request request;
  int limit = 100;
  bool as_json = false;
  add_json(app, as_json);
  add_limit(app, limit, "keys");
  add_plan(app, request);
  parse(app, given, "NAME [options]");
  auto const of = open_plan(request);
  table rows({"KEY", "LAUNCHED", "REASON"});
  std::int64_t launched = 0;
  auto const found = of.plan.preview(limit);
  for (auto const& one : found) {
    if (one.launched) ++launched;
    if (as_json) {
      print_json({{"key", one.key}, {"launched", one.launched}, {"reason", one.reason}});
    } else {
      rows.add({printable(one.key), one.launched ? "yes" : "no", printable(one.reason)});
    }
  }
  if (!as_json) rows.print();
  bool const more = found.size() == static_cast<std::size_t>(limit);
  say(fmt::format("{}: nothing was launched; {} of {} keys{} would be", printable(request.name),
                  launched, found.size(), more ? ", and perhaps others (--limit)," : ""));
  return exit_code::done;
}

}  // namespace command
