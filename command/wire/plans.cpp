#include "wire/plans.hpp"

#include "cli/format.hpp"
#include "config/declared_plan.hpp"
#include "config/options.hpp"

#include <daybook/words.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace command {

namespace {

using json = nlohmann::ordered_json;

/// "hour", "day", "month", or so many minutes: "15m".
std::string text_of_period(daybook::window_strategy const& strategy) {
  if (strategy.each == daybook::window_strategy::unit::minute) {
    return fmt::format("{}m", strategy.count);
  }
  return std::string(word_of(strategy.each));
}

json strategy_json(daybook::query_strategy const& strategy) {
  return {{"query", strategy.query}, {"timeout", text_of(strategy.timeout)}};
}

json strategy_json(daybook::inbox_strategy const& strategy) { return {{"from", strategy.from}}; }

json strategy_json(daybook::window_strategy const& strategy) {
  return {{"period", text_of_period(strategy)},
          {"zone", strategy.zone},
          {"since", iso(strategy.since)},
          {"newest_first", strategy.newest_first},
          {"most", strategy.max_periods},
          {"again_after", text_of(std::chrono::milliseconds(strategy.retry_after))}};
}

json strategy_json(daybook::sweep_strategy const& strategy) {
  return {{"table", strategy.table},
          {"key", strategy.key},
          {"created", strategy.created},
          {"in_memory", strategy.in_memory},
          {"few", strategy.max_rows},
          {"comparisons", strategy.comparisons},
          {"again", text_of(std::chrono::milliseconds(strategy.repeat_after))}};
}

}  // namespace

/// In the book it is always said.
std::string_view rule_word(daybook::planner_options const& options) {
  return word_in(rule_words, options.rule.value_or(daybook::launch_rule::once));
}

std::string_view kind_of(daybook::planner_options const& options) noexcept {
  return plan_kinds.at(options.strategy.index());
}

nlohmann::ordered_json json_of_strategy(daybook::planner_options const& options) {
  return std::visit([](auto const& one) { return strategy_json(one); }, options.strategy);
}

nlohmann::ordered_json json_of(daybook::planner_info const& planner) {
  auto const& how = planner.options;
  json out{{"name", planner.name},
           {"kind", kind_of(how)},
           {"queue", how.queue},
           {"rule", rule_word(how)},
           {"check", how.check},
           {"every", text_of(how.every)},
           {"priority", how.priority},
           {"page", how.page},
           {"paused", planner.paused},
           {"passes", planner.passes},
           {"last_pass", json_of(planner.last_pass)},
           {"next_pass", json_of(planner.next_pass)},
           {"launched", planner.launched},
           {"refused", planner.refused},
           {"error", planner.error}};
  auto const own = json_of_strategy(how);
  out.update(own);
  return out;
}

nlohmann::ordered_json json_of(daybook::period_info const& one) {
  return {{"key", one.key},
          {"from", iso(one.from)},
          {"to", iso(one.to)},
          {"state", daybook::word_of(one.state)},
          {"launches", one.launches},
          {"launched", json_of(one.launched)},
          {"done", json_of(one.done)},
          {"reopened", json_of(one.reopened)},
          {"remark", one.remark}};
}

nlohmann::ordered_json json_of(daybook::sweep_info const& one) {
  return {{"sweep", one.number},
          {"state", daybook::word_of(one.state)},
          {"pages", one.pages},
          {"done", one.done},
          {"failed", one.failed},
          {"given_up", one.given_up},
          {"rows", one.rows},
          {"late", one.late},
          {"vanished", one.vanished},
          {"comparisons", one.comparisons},
          {"started", iso(one.started)},
          {"ended", json_of(one.ended)}};
}

nlohmann::ordered_json json_of(daybook::refused_key const& one) {
  return {{"key", one.key},
          {"first", iso(one.first)},
          {"last", iso(one.last)},
          {"count", one.count},
          {"reason", one.reason}};
}

nlohmann::ordered_json json_of(daybook::planned_key const& one) {
  return {{"key", one.key},
          {"launches", one.launches},
          {"first", json_of(one.first)},
          {"last", json_of(one.last)},
          {"refusals", one.refusals},
          {"first_refused", json_of(one.first_refused)},
          {"last_refused", json_of(one.last_refused)},
          {"reason", one.reason}};
}

}  // namespace command
