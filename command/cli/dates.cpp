#include "cli/dates.hpp"

#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>

namespace command {

namespace {

/// Of six digits at most; -1: it holds anything else, or nothing.
int number_of(std::string_view text) { return static_cast<int>(whole_number(text).value_or(-1)); }

std::optional<std::chrono::year_month_day> date_in(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return {};
  int const year = number_of(text.substr(0, 4));
  int const month = number_of(text.substr(5, 2));
  int const day = number_of(text.substr(8, 2));
  if (year <= 0 || month <= 0 || day <= 0) return {};
  std::chrono::year_month_day const date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  return date.ok() ? std::optional(date) : std::nullopt;
}

/// "09:18"
std::optional<std::chrono::minutes> minutes_in(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return {};
  int const hour = number_of(text.substr(0, 2));
  int const minute = number_of(text.substr(3, 2));
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return {};
  return std::chrono::hours{hour} + std::chrono::minutes{minute};
}

/// ":25" or ":25.123456"
std::optional<std::chrono::microseconds> seconds_in(std::string_view text) {
  if (text.size() < 3 || text[0] != ':') return {};
  int const second = number_of(text.substr(1, 2));
  if (second < 0 || second > 59) return {};
  std::chrono::microseconds out = std::chrono::seconds{second};
  if (text.size() == 3) return out;
  auto places = std::string(text.substr(4));
  if (text[3] != '.' || places.size() > 6) return {};
  places.resize(6, '0');
  int const fraction = number_of(places);
  if (fraction < 0 || text.size() == 4) return {};
  return out + std::chrono::microseconds{fraction};
}

/// "Z" or "+02:00": what the clock is ahead of UTC.
std::optional<std::chrono::minutes> offset_in(std::string_view text) {
  if (text == "Z") return std::chrono::minutes{0};
  if (!text.starts_with('+') && !text.starts_with('-')) return {};
  auto const size = minutes_in(text.substr(1));
  if (!size) return {};
  return text[0] == '+' ? *size : -*size;
}

std::optional<daybook::timestamp> instant_in(std::string_view text) {
  constexpr std::size_t time = 11;
  if (text.size() < time || text[time - 1] != 'T') return {};
  auto const zone = std::min(text.find_first_of("Z+-", time), text.size());
  auto const date = date_in(text.substr(0, time - 1));
  auto const clock = text.substr(time, zone - time);
  auto const minutes = minutes_in(clock.substr(0, 5));
  auto const seconds = seconds_in(clock.size() > 5 ? clock.substr(5) : std::string_view{});
  auto const ahead = offset_in(text.substr(zone));
  if (!date || !minutes || !seconds || !ahead) return {};
  return std::chrono::sys_days{*date} + *minutes + *seconds - *ahead;
}

}  // namespace

std::chrono::year_month_day date_from(std::string_view text) {
  if (auto const date = date_in(text)) return *date;
  throw complaint(
      exit_code::bad_data,
      fmt::format("'{}' is no date of the calendar: write it as 2026-11-21", printable(text)));
}

daybook::timestamp instant_from(std::string_view text) {
  if (auto const when = instant_in(text)) return *when;
  throw complaint(exit_code::bad_data,
                  fmt::format("'{}' is no instant: write it as 2027-03-28T01:00:00Z, or as "
                              "2027-03-28T03:00:00+02:00",
                              printable(text)));
}

std::string text_of(std::chrono::year_month_day date) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

}  // namespace command
