// Planners, their periods and sweeps as JSON: the fields that --json prints.
// Thread safety: values.
#pragma once

#include <daybook/planner.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace command {

/// "query", "inbox", "window", "sweep".
[[nodiscard]] std::string_view kind_of(daybook::planner_options const& of) noexcept;
/// In the book it is always said.
[[nodiscard]] std::string_view rule_word(daybook::planner_options const& of);
/// What the kind of the planner adds.
[[nodiscard]] nlohmann::ordered_json json_of_strategy(daybook::planner_options const& of);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::planner_info const& of);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::period_info const& of);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::sweep_info const& of);

}  // namespace command
