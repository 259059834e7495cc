// daybook plans list, show, refused, find: what planners have done, and what not.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "verbs/plans/plan_verbs.hpp"
#include "wire/plans.hpp"

#include <daybook/error.hpp>
#include <daybook/planner.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace command {

namespace {

using json = nlohmann::ordered_json;

constexpr auto no_such = "\nExit codes: 66 no such plan.";

void print_text(daybook::planner_info const& info) {
  auto const& how = info.options;
  print_field("name", printable(info.name));
  print_field("kind", kind_of(how));
  auto const own = json_of_strategy(how);
  for (auto const& [name, value] : own.items()) {
    auto const text = value.is_string() ? value.get<std::string>() : value.dump();
    if (!text.empty()) print_field(name, printable(text));
  }
  print_field("queue", printable(how.queue));
  print_field("rule", rule_word(how));
  if (!how.check.empty()) print_field("check", printable(how.check));
  print_field("every", text_of(how.every));
  print_field("state", info.paused ? "paused" : "active");
  print_field("passes", std::to_string(info.passes));
  print_field("last pass", seconds_of(info.last_pass));
  print_field("next pass", seconds_of(info.next_pass));
  print_field("launched", std::to_string(info.launched));
  print_field("refused", std::to_string(info.refused));
  if (!info.error.empty()) print_field("error", printable(info.error));
}

/// What the database says of a query that it cannot plan is why the plan fails: it is shown, too.
std::vector<std::string> advice_for(daybook::planner const& plan) {
  try {
    return plan.advice();
  } catch (daybook::error const& e) {
    if (e.kind() == daybook::error_code::unreachable) throw;
    return {"none, for the database refuses to plan it: " + without_passwords(e.what())};
  }
}

}  // namespace

int plans_list(arguments const& given) {
  CLI::App app{"Lists the planners of a book by name.", "daybook plans list"};
  plan_request request;
  bool as_json = false;
  add_json(app, as_json);
  add_database_options(app, request.where);
  parse(app, given);
  auto const book = open_book(resolve(request.where));
  table rows({"NAME", "KIND", "QUEUE", "RULE", "EVERY", "STATE", "LAST PASS", "LAUNCHED", "REFUSED",
              "ERROR"});
  for (auto const& name : book.planners()) {
    auto const plan = book.planner(name);
    if (!plan) continue;
    auto const of = plan->info();
    if (as_json) {
      print_json(json_of(of));
      continue;
    }
    rows.add({printable(of.name), std::string(kind_of(of.options)), printable(of.options.queue),
              std::string(rule_word(of.options)), text_of(of.options.every),
              of.paused ? "paused" : "active", seconds_of(of.last_pass),
              std::to_string(of.launched), std::to_string(of.refused), printable(of.error)});
  }
  if (!as_json) rows.print();
  return exit_code::done;
}

int plans_show(arguments const& given) {
  CLI::App app{"Shows a plan: how it is declared, what its passes did, what people changed.",
               "daybook plans show"};
  app.footer(
      "\nOf a query it says which tables the database would read whole.\n\nExit codes: 66 no such "
      "plan.");
  plan_request request;
  bool as_json = false;
  app.add_flag("--json", as_json, "As one object");
  add_plan(app, request);
  parse(app, given, "NAME [options]");
  auto const found = find_plan(request);
  auto const of = found.plan.info();
  auto const changes = found.plan.changes();
  auto const advice = advice_for(found.plan);
  if (as_json) {
    auto out = json_of(of);
    out["advice"] = advice;
    out["changes"] = json_of(changes);
    print_json(out);
    return exit_code::done;
  }
  print_text(of);
  for (auto const& one : advice) print_field("advice", printable(one));
  print_changes(changes);
  return exit_code::done;
}

int plans_refused(arguments const& given) {
  CLI::App app{"Lists keys that were not launched when they came up last, and why.",
               "daybook plans refused"};
  app.footer(no_such);
  plan_request request;
  daybook::refusals_query page;
  bool as_json = false;
  add_json(app, as_json);
  add_page(app, page.after, page.limit, "KEY");
  add_plan(app, request);
  parse(app, given, "NAME [options]");
  table rows({"KEY", "FIRST", "LAST", "TIMES", "REASON"});
  for (auto const& one : find_plan(request).plan.refusals(page)) {
    if (as_json) {
      print_json(json_of(one));
      continue;
    }
    rows.add({printable(one.key), seconds_of(one.first), seconds_of(one.last),
              std::to_string(one.count), printable(one.reason)});
  }
  if (!as_json) rows.print();
  return exit_code::done;
}

int plans_find(arguments const& given) {
  CLI::App app{"Says what a plan knows of one key: when it was launched, and why not.",
               "daybook plans find"};
  app.footer("\nExit codes: 66 no such plan, or the key never came up.");
  plan_request request;
  std::string text;
  bool as_json = false;
  app.add_flag("--json", as_json, "As one object");
  add_plan(app, request);
  app.add_option("KEY", text, "The key")->required();
  parse(app, given, "NAME KEY [options]");
  daybook::key const key(text);
  auto const one = find_plan(request).plan.find(key);
  if (!one) {
    throw complaint(exit_code::missing, fmt::format("{}: the key {} never came up",
                                                    printable(request.name), printable(text)));
  }
  if (as_json) {
    print_json(json_of(*one));
    return exit_code::done;
  }
  print_field("key", printable(one->key));
  print_field("launches", std::to_string(one->launches));
  print_field("first", seconds_of(one->first));
  print_field("last", seconds_of(one->last));
  print_field("refusals", std::to_string(one->refusals));
  print_field("refused", seconds_of(one->last_refused));
  if (!one->reason.empty()) print_field("reason", printable(one->reason));
  return exit_code::done;
}

}  // namespace command
