#include "wire/plans.hpp"

#include "cli/format.hpp"
#include "config/declared_plan.hpp"
#include "config/options.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace command {

namespace {

using json = nlohmann::ordered_json;

std::string text_of_period(daybook::window_strategy const& of) {
  using unit = daybook::window_strategy::unit;
  if (of.each == unit::hour) return "hour";
  if (of.each == unit::day) return "day";
  if (of.each == unit::month) return "month";
  return fmt::format("{}m", of.count);
}

json strategy_json(daybook::query_strategy const& of) {
  return {{"query", of.query}, {"timeout", text_of(of.timeout)}};
}

json strategy_json(daybook::inbox_strategy const& of) { return {{"from", of.from}}; }

json strategy_json(daybook::window_strategy const& of) {
  return {{"period", text_of_period(of)},
          {"zone", of.zone},
          {"since", iso(of.since)},
          {"newest_first", of.newest_first},
          {"most", of.most},
          {"again_after", text_of(std::chrono::milliseconds(of.retry_after))}};
}

json strategy_json(daybook::sweep_strategy const& of) {
  return {{"table", of.table},
          {"key", of.key},
          {"created", of.created},
          {"in_memory", of.in_memory},
          {"few", of.few},
          {"comparisons", of.comparisons},
          {"again", text_of(std::chrono::milliseconds(of.again))}};
}

}  // namespace

/// In the book it is always said.
std::string_view rule_word(daybook::planner_options const& of) {
  return word_in(rule_words, of.rule.value_or(daybook::launch_rule::once));
}

std::string_view kind_of(daybook::planner_options const& of) noexcept {
  return plan_kinds.at(of.strategy.index());
}

nlohmann::ordered_json json_of_strategy(daybook::planner_options const& of) {
  return std::visit([](auto const& one) { return strategy_json(one); }, of.strategy);
}

nlohmann::ordered_json json_of(daybook::planner_info const& of) {
  auto const& how = of.options;
  json out{{"name", of.name},
           {"kind", kind_of(how)},
           {"queue", how.queue},
           {"rule", rule_word(how)},
           {"check", how.check},
           {"every", text_of(how.every)},
           {"priority", how.priority},
           {"page", how.page},
           {"paused", of.paused},
           {"passes", of.passes},
           {"last_pass", json_of(of.last_pass)},
           {"next_pass", json_of(of.next_pass)},
           {"launched", of.launched},
           {"refused", of.refused},
           {"error", of.error}};
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

}  // namespace command
