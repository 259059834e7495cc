// Planners, their periods and sweeps as JSON: the fields that --json prints.
// Thread safety: values.
#pragma once

#include <daybook/planner.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace command {

/// "query", "inbox", "window", "sweep".
[[nodiscard]] std::string_view kind_of(daybook::planner_options const& options) noexcept;
/// The launch rule in force: a rule of the file, or the default of the kind.
[[nodiscard]] std::string_view rule_word(daybook::planner_options const& options);
/// The options of its strategy.
[[nodiscard]] nlohmann::ordered_json json_of_strategy(daybook::planner_options const& options);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::planner_info const& planner);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::period_info const& period);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::sweep_info const& sweep);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::refused_key const& refused);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::planned_key const& known);

}  // namespace command
