#include "wire/runs.hpp"

#include "cli/dates.hpp"
#include "cli/format.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace command {

namespace {

using json = nlohmann::ordered_json;

json json_of(std::optional<daybook::lease_holder> const& holder, bool alive) {
  if (!holder) return nullptr;
  return {{"id", holder->holder},
          {"node", holder->node},
          {"pid", holder->pid},
          {"since", iso(holder->since)},
          {"until", iso(holder->until)},
          {"step", holder->in_hand},
          {"alive", alive}};
}

json json_of(std::optional<daybook::progress_info> const& far) {
  if (!far) return nullptr;
  return {{"done", far->done}, {"total", far->total}, {"note", far->note}};
}

}  // namespace

nlohmann::ordered_json json_of(daybook::run_info const& run) {
  return {{"process", run.process},
          {"key", run.key},
          {"state", word_of(run.state)},
          {"state_code", static_cast<int>(run.state)},
          {"run_no", run.number},
          {"attempt", run.attempt},
          {"epoch", run.epoch},
          {"steps_done", run.steps_done},
          {"first_started", iso(run.first_started)},
          {"started", iso(run.started)},
          {"attempt_started", iso(run.attempt_started)},
          {"ended", command::json_of(run.ended)},
          {"succeeded", command::json_of(run.succeeded)},
          {"error", run.error},
          {"holder", json_of(run.holder, run.holder_alive)},
          {"abandoned_since", command::json_of(run.abandoned)},
          {"deadline", command::json_of(run.deadline)},
          {"deadline_over", run.deadline_over},
          {"date", run.date ? json(text_of(*run.date)) : json(nullptr)},
          {"progress", json_of(run.progress)}};
}

nlohmann::ordered_json json_of(daybook::attempt_info const& attempt) {
  return {{"run_no", attempt.number},
          {"attempt", attempt.attempt},
          {"epoch", attempt.epoch},
          {"state", word_of(attempt.state)},
          {"state_code", static_cast<int>(attempt.state)},
          {"started", iso(attempt.started)},
          {"ended", iso(attempt.ended)},
          {"holder", attempt.holder},
          {"node", attempt.node},
          {"pid", attempt.pid},
          {"error", attempt.error},
          {"step", attempt.in_hand},
          {"exit_code", attempt.exit_code ? json(*attempt.exit_code) : json(nullptr)},
          {"output", attempt.output}};
}

nlohmann::ordered_json json_of(daybook::run_detail const& detail,
                               std::vector<daybook::change_info> const& changes) {
  auto out = json_of(detail.info);
  out["steps"] = json::array();
  for (auto const& one : detail.steps) {
    out["steps"].push_back({{"name", one.name},
                            {"attempt", one.attempt},
                            {"epoch", one.epoch},
                            {"ended", iso(one.ended)},
                            {"took_us", one.took ? json(one.took->count()) : json(nullptr)},
                            {"mode", word_of(one.mode)},
                            {"value", one.value}});
  }
  out["intents"] = json::array();
  for (auto const& one : detail.intents) {
    out["intents"].push_back({{"name", one.name},
                              {"attempt", one.attempt},
                              {"started", iso(one.started)},
                              {"unknown", one.unknown}});
  }
  out["carried"] = json::array();
  for (auto const& one : detail.values) {
    out["carried"].push_back(
        {{"name", one.name}, {"value", one.value}, {"updated", iso(one.updated)}});
  }
  out["attempts"] = json::array();
  for (auto const& one : detail.attempts) out["attempts"].push_back(json_of(one));
  out["changes"] = command::json_of(changes);
  return out;
}

}  // namespace command
