// Schedules and their ticks as JSON: the fields that --json prints.
// Thread safety: values.
#pragma once

#include <daybook/schedule.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace command {

/// A tick that was launched, and that nobody runs any more.
inline constexpr std::string_view interrupted_word = "interrupted";

[[nodiscard]] nlohmann::ordered_json json_of(daybook::schedule_info const& schedule);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::tick_info const& tick);

}  // namespace command
