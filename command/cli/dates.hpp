// Dates and instants as people write them: ISO 8601. Thread safety: values.
#pragma once

#include <daybook/time.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace command {

/// "2026-11-21". On failure: complaint (65).
[[nodiscard]] std::chrono::year_month_day date_from(std::string_view text);
[[nodiscard]] std::string text_of(std::chrono::year_month_day date);

/// "2027-03-28T01:00:00Z", with up to six places, or an offset as +02:00 for the Z.
/// On failure: complaint (65).
[[nodiscard]] daybook::timestamp instant_from(std::string_view text);

}  // namespace command
