#include "wire/book.hpp"

#include "cli/format.hpp"

#include <daybook/words.hpp>
#include <nlohmann/json.hpp>

namespace command {

namespace {

using json = nlohmann::ordered_json;

plan_sums plans_of(daybook::book const& book) {
  plan_sums sum;
  for (auto const& name : book.planners()) {
    auto const one = book.planner(name);
    if (!one) continue;
    ++sum.all;
    if (!one->info().error.empty()) ++sum.failing;
  }
  return sum;
}

json work_json(daybook::held_work const& work) {
  if (work.kind == daybook::work_kind::run) {
    return {{"run", work.name}, {"key", work.key}, {"since", iso(work.since)}};
  }
  return {{"queue", work.name}, {"tasks", work.tasks}, {"since", iso(work.since)}};
}

}  // namespace

glance glance_at(daybook::book const& book, daybook::status_depth depth) {
  return {book.status(depth), plans_of(book), book.problems()};
}

nlohmann::ordered_json json_of(daybook::check_result const& result) {
  return {{"worth", daybook::word_of(result.severity)},
          {"name", result.name},
          {"found", result.found},
          {"remedy", result.remedy}};
}

nlohmann::ordered_json json_of(daybook::holder_info const& holder) {
  auto work = json::array();
  for (auto const& one : holder.work) work.push_back(work_json(one));
  return {{"id", holder.holder},
          {"node", holder.node},
          {"pid", holder.pid},
          {"state", daybook::word_of(holder.state)},
          {"since", iso(holder.started)},
          {"renewed", iso(holder.renewed)},
          {"until", iso(holder.until)},
          {"ended", command::json_of(holder.ended)},
          {"work", std::move(work)}};
}

nlohmann::ordered_json json_of(std::vector<daybook::problem> const& all) {
  auto out = json::array();
  for (auto const& one : all) {
    out.push_back({{"kind", daybook::word_of(one.kind)},
                   {"urgency", daybook::word_of(one.urgency)},
                   {"subject", one.subject},
                   {"since", command::json_of(one.since)},
                   {"why", one.why},
                   {"remedy", one.remedy}});
  }
  return out;
}

nlohmann::ordered_json json_of(glance const& seen) {
  return json({{"now", iso(seen.status.now)},
               {"holders_alive", seen.status.holders_alive},
               {"runs_in_hand", seen.status.runs_in_hand},
               {"runs_abandoned", seen.status.runs_abandoned},
               {"runs_overdue", seen.status.runs_overdue},
               {"runs_succeeded", seen.status.runs_succeeded},
               {"runs_failed", seen.status.runs_failed},
               {"runs_interrupted", seen.status.runs_interrupted},
               {"runs_unknown", seen.status.runs_unknown},
               {"runs_capped", seen.status.runs_capped},
               {"queues", seen.status.queues},
               {"tasks_due", seen.status.tasks_due},
               {"tasks_capped", seen.status.tasks_capped},
               {"tasks_running", seen.status.tasks_running},
               {"tasks_dead", seen.status.tasks_dead},
               {"tasks_unknown", seen.status.tasks_unknown},
               {"plans", seen.plans.all},
               {"plans_failing", seen.plans.failing},
               {"problems", json_of(seen.problems)}});
}

}  // namespace command
