// Schedules and their ticks as JSON: the fields that --json prints.
// Thread safety: values.
#pragma once

#include <daybook/schedule.hpp>
#include <daybook/zone.hpp>

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace command {

/// A tick that was launched, and that nobody runs any more.
inline constexpr std::string_view interrupted_word = "interrupted";

[[nodiscard]] nlohmann::ordered_json json_of(daybook::schedule_info const& schedule);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::tick_info const& tick);
/// A tick that comes, as clocks in a zone show it.
[[nodiscard]] nlohmann::ordered_json json_of_coming(daybook::timestamp tick,
                                                    daybook::zone const& zone);
/// "+02:00", with seconds where it has some.
[[nodiscard]] std::string offset_text(std::chrono::seconds offset);
/// "2027-03-28T03:00:00"
[[nodiscard]] std::string local_text(daybook::wall_time const& wall);

}  // namespace command
