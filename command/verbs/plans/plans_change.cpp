// daybook plans pause, resume, forget: what a person does, with who and why.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "verbs/plans/plan_verbs.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string>

namespace command {

namespace {

constexpr auto no_such = "\nExit codes: 66 no such plan.";

int set_paused(arguments const& given, CLI::App& app, bool paused) {
  app.footer(no_such);
  plan_request request;
  add_plan(app, request);
  add_reason(app, request.by);
  parse(app, given, "NAME [options]");
  auto of = find_plan(request);
  auto const by = request.by.remark();
  bool const changed = paused ? of.plan.pause(by) : of.plan.resume(by);
  auto const now = paused ? "paused" : "active";
  say(fmt::format("{}: {}{}", printable(request.name), changed ? "" : "already ", now));
  return exit_code::done;
}

}  // namespace

int plans_pause(arguments const& given) {
  CLI::App app{"Lets daemons make no passes of a plan until `resume`; its tasks go on.",
               "daybook plans pause"};
  return set_paused(given, app, true);
}

int plans_resume(arguments const& given) {
  CLI::App app{"Ends a pause.", "daybook plans resume"};
  return set_paused(given, app, false);
}

int plans_forget(arguments const& given) {
  CLI::App app{"Has a plan forget keys: they may be launched as if never before.",
               "daybook plans forget"};
  app.footer("\nTheir tasks stay.\n\nExit codes: 66 no such plan, or it knows none of the keys.");
  plan_request request;
  std::vector<std::string> texts;
  add_plan(app, request);
  app.add_option("KEY", texts, "The keys")->required();
  add_reason(app, request.by);
  parse(app, given, "NAME KEY... [options]");
  std::vector<daybook::key> keys;
  for (auto const& one : texts) keys.emplace_back(one);
  auto of = find_plan(request);
  auto const by = request.by.remark();
  std::size_t count = 0;
  for (auto const& one : keys) count += of.plan.forget(one, by) ? 1U : 0U;
  say(fmt::format("{}: {} of {} keys forgotten", printable(request.name), count, keys.size()));
  return count > 0 ? exit_code::done : exit_code::missing;
}

}  // namespace command
