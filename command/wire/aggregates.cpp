#include "wire/aggregates.hpp"

#include "cli/format.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>

namespace command {

namespace {

using json = nlohmann::ordered_json;

}  // namespace

nlohmann::ordered_json json_of_sums(daybook::aggregation_options const& options,
                                    std::vector<std::string> const& sums) {
  auto out = json::object();
  for (std::size_t i = 0; i < sums.size(); ++i) out[options.sums.at(i).into] = sums[i];
  return out;
}

nlohmann::ordered_json json_of(daybook::parent_info const& one,
                               daybook::aggregation_options const& options) {
  return {{"parent", one.key},
          {"group", one.group},
          {"state", one.state},
          {"count", one.count ? json(*one.count) : json(nullptr)},
          {"sums", json_of_sums(options, one.sums)},
          {"opened", iso(one.opened)}};
}

nlohmann::ordered_json json_of(daybook::aggregated_row const& one,
                               daybook::aggregation_options const& options) {
  auto amounts = json::object();
  for (std::size_t i = 0; i < one.amounts.size(); ++i) {
    auto const& amount = one.amounts[i];
    amounts[options.sums.at(i).from] = amount ? json(*amount) : json(nullptr);
  }
  return {{"row", one.key}, {"state", one.state}, {"amounts", amounts}};
}

nlohmann::ordered_json json_of(daybook::aggregation_event const& one) {
  return {{"id", one.id},         {"at", iso(one.at)},   {"what", daybook::word_of(one.what)},
          {"parent", one.parent}, {"rows", one.rows},    {"actor", one.actor},
          {"reason", one.reason}, {"detail", one.detail}};
}

nlohmann::ordered_json json_of(daybook::difference const& one) {
  return {{"what", daybook::word_of(one.what)},
          {"parent", one.parent},
          {"group", one.group},
          {"column", one.column},
          {"expected", one.expected},
          {"found", one.found},
          {"row", one.row}};
}

daybook::state_value state_named(std::string_view word, daybook::aggregation_parent const& parent) {
  if (word == "open") return parent.open;
  if (word == "closed") return parent.closed;
  return word == "settled" ? parent.settled : parent.voided;
}

}  // namespace command
