// Planners: what their passes did, and what people ask for.
#include "api/handlers.hpp"
#include "config/options.hpp"
#include "verbs/plans/plan_verbs.hpp"
#include "wire/plans.hpp"

#include "cli/format.hpp"

#include <daybook/planner.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace command::api {

namespace {

using json = nlohmann::ordered_json;

/// With the SQL of the file, where that declares it: a pass executes no other.
daybook::planner plan_in(call const& asked) {
  auto const& name = asked.name("plan");
  auto const& plans = asked.in.file().plans;
  auto const declared = std::find_if(plans.begin(), plans.end(),
                                     [&](declared_plan const& one) { return one.name == name; });
  auto found = declared == plans.end() ? asked.book().planner(name)
                                       : asked.book().planner(name, declared->options);
  if (found) return std::move(*found);
  missing("The book has no plan " + name + ".");
}

json advice_for(daybook::planner const& plan) {
  try {
    return plan.advice();
  } catch (daybook::error const& e) {
    if (e.kind() == daybook::error_code::unreachable) throw;
    return json::array({"none: the database refuses to plan the query"});
  }
}

}  // namespace

reply get_plans(call& asked) {
  auto items = json::array();
  for (auto const& name : asked.book().planners()) {
    auto const plan = asked.book().planner(name);
    if (plan) items.push_back(json_of(plan->info()));
  }
  return list_of(std::move(items));
}

reply get_plan(call& asked) {
  auto const plan = plan_in(asked);
  auto out = json_of(plan.info());
  out["advice"] = advice_for(plan);
  out["changes"] = command::json_of(plan.changes());
  return {.body = std::move(out)};
}

reply get_refused(call& asked) {
  daybook::refusals_query query{.after = asked.after(), .limit = asked.number("limit", 100)};
  auto const found = plan_in(asked).refusals(query);
  auto items = json::array();
  for (auto const& one : found) items.push_back(json_of(one));
  bool const is_full = std::cmp_equal(found.size(), query.limit);
  return list_of(std::move(items), next_after(is_full, is_full ? found.back().key : ""));
}

reply get_grid(call& asked) {
  auto items = json::array();
  for (auto const& one :
       plan_in(asked).grid({.newest_first = true, .limit = asked.number("limit", 100)})) {
    items.push_back(json_of(one));
  }
  return list_of(std::move(items));
}

reply get_sweeps(call& asked) {
  auto items = json::array();
  for (auto const& one : plan_in(asked).sweeps(asked.number("limit", 10))) {
    items.push_back(json_of(one));
  }
  return list_of(std::move(items));
}

reply get_planned_key(call& asked) {
  auto const found = plan_in(asked).find(daybook::key(asked.name("key")));
  if (!found) missing("The key " + asked.name("key") + " never came up.");
  return {.body = json_of(*found)};
}

reply run_plan(call& asked) {
  auto const done = plan_in(asked).pass();
  if (!done.ran) {
    throw refusal(409, "held-elsewhere",
                  done.holder ? "A pass is made by " + done.holder->node + ", process " +
                                    std::to_string(done.holder->pid) + "."
                              : "Somebody makes a pass.");
  }
  return told(text_of(done) + ".");
}

reply pause_plan(call& asked) {
  return told(plan_in(asked).pause(asked.note()) ? "It is paused." : "It was paused before.");
}

reply resume_plan(call& asked) {
  return told(plan_in(asked).resume(asked.note()) ? "It is resumed." : "It was not paused.");
}

reply sweep_plan(call& asked) {
  if (!plan_in(asked).sweep_now(asked.note())) not_in_that_state("A sweep is under way.");
  return {
      .body = {{"text", "The next sweep begins with the next pass."}, {"waits_for", "a daemon"}},
      .status = 202};
}

reply reopen_period(call& asked) {
  auto const period = asked.field("period");
  if (period.empty()) throw refusal(400, "bad-argument", "Say the period.");
  if (!plan_in(asked).reopen(daybook::key(period), asked.note())) {
    not_in_that_state("There is no such period that was launched and is not reopened already.");
  }
  return {.body = {{"text", "The next pass launches it once more."}, {"waits_for", "a daemon"}},
          .status = 202};
}

}  // namespace command::api
