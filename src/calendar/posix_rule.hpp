// The rule at the end of a zone file for the years that its table does not have:
// "CET-1CEST,M3.5.0,M10.5.0/3" (POSIX, with the hours of RFC 9636 from -167 to 167).
// Thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace calendar {

/// One way in which a zone keeps its clocks.
struct clock_kind {
  std::chrono::seconds offset{0};  ///< what it is ahead of UTC
  std::string abbreviation;
  bool daylight = false;
  friend bool operator==(clock_kind const&, clock_kind const&) = default;
};

/// A day that comes every year, and a time on it.
struct yearly {
  enum class form : std::uint8_t { without_leap_day, with_leap_day, week_of_month };
  form by = form::week_of_month;
  int day = 0;    ///< of the year: 1 to 365, or 0 to 365
  int month = 1;  ///< week_of_month
  int week = 1;   ///< 5: the last
  int weekday = 0;
  std::chrono::seconds time = std::chrono::hours{2};

  [[nodiscard]] std::chrono::local_seconds in(std::chrono::year y) const;
};

struct daylight_rule {
  clock_kind kind;
  yearly start;
  yearly end;
};

struct posix_rule {
  clock_kind standard;
  std::optional<daylight_rule> summer;
};

/// Empty: it is no such rule.
[[nodiscard]] std::optional<posix_rule> read_posix_rule(std::string_view text);

}  // namespace calendar
}  // namespace v1
}  // namespace daybook
