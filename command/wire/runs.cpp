#include "wire/runs.hpp"

#include "cli/dates.hpp"
#include "cli/format.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace command {

namespace {

using json = nlohmann::ordered_json;

json json_of(std::optional<daybook::lease_holder> const& who, bool alive) {
  if (!who) return nullptr;
  return {{"id", who->holder},
          {"node", who->node},
          {"pid", who->pid},
          {"since", iso(who->since)},
          {"until", iso(who->until)},
          {"step", who->in_hand},
          {"alive", alive}};
}

json json_of(std::optional<daybook::progress_info> const& far) {
  if (!far) return nullptr;
  return {{"done", far->done}, {"total", far->total}, {"note", far->note}};
}

}  // namespace

nlohmann::ordered_json json_of(daybook::run_info const& of) {
  return {{"process", of.process},
          {"key", of.key},
          {"state", word_of(of.state)},
          {"state_code", static_cast<int>(of.state)},
          {"run_no", of.number},
          {"attempt", of.attempt},
          {"epoch", of.epoch},
          {"steps_done", of.steps_done},
          {"first_started", iso(of.first_started)},
          {"started", iso(of.started)},
          {"attempt_started", iso(of.attempt_started)},
          {"ended", command::json_of(of.ended)},
          {"succeeded", command::json_of(of.succeeded)},
          {"error", of.error},
          {"holder", json_of(of.holder, of.holder_alive)},
          {"abandoned_since", command::json_of(of.abandoned)},
          {"deadline", command::json_of(of.deadline)},
          {"deadline_over", of.deadline_over},
          {"date", of.date ? json(text_of(*of.date)) : json(nullptr)},
          {"progress", json_of(of.progress)}};
}

nlohmann::ordered_json json_of(daybook::attempt_info const& of) {
  return {{"run_no", of.number},
          {"attempt", of.attempt},
          {"epoch", of.epoch},
          {"state", word_of(of.state)},
          {"state_code", static_cast<int>(of.state)},
          {"started", iso(of.started)},
          {"ended", iso(of.ended)},
          {"holder", of.holder},
          {"node", of.node},
          {"pid", of.pid},
          {"error", of.error},
          {"step", of.in_hand},
          {"exit_code", of.exit_code ? json(*of.exit_code) : json(nullptr)},
          {"output", of.output}};
}

nlohmann::ordered_json json_of(daybook::run_detail const& of,
                               std::vector<daybook::change_info> const& changes) {
  auto out = json_of(of.info);
  out["steps"] = json::array();
  for (auto const& one : of.steps) {
    out["steps"].push_back({{"name", one.name},
                            {"attempt", one.attempt},
                            {"epoch", one.epoch},
                            {"ended", iso(one.ended)},
                            {"took_us", one.took ? json(one.took->count()) : json(nullptr)},
                            {"mode", word_of(one.mode)},
                            {"value", one.value}});
  }
  out["intents"] = json::array();
  for (auto const& one : of.intents) {
    out["intents"].push_back({{"name", one.name},
                              {"attempt", one.attempt},
                              {"started", iso(one.started)},
                              {"unknown", one.unknown}});
  }
  out["carried"] = json::array();
  for (auto const& one : of.carried) {
    out["carried"].push_back(
        {{"name", one.name}, {"value", one.value}, {"updated", iso(one.updated)}});
  }
  out["attempts"] = json::array();
  for (auto const& one : of.attempts) out["attempts"].push_back(json_of(one));
  out["changes"] = command::json_of(changes);
  return out;
}

}  // namespace command
