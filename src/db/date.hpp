// Dates as the tables have them: "2026-11-21".
// Thread-safe.
#pragma once

#include <daybook/sql.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace daybook {
inline namespace v1 {
namespace db {

/// Precondition: a date of the calendar, of the years 1 to 9999.
[[nodiscard]] std::string text_of(std::chrono::year_month_day date);
/// Empty for NULL, and for what is no date of ours.
[[nodiscard]] std::optional<std::chrono::year_month_day> to_date(cell const& cell);

}  // namespace db
}  // namespace v1
}  // namespace daybook
