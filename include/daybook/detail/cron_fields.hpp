// What a cron expression says, as sets of numbers: bit n of `minutes` is minute n.
// cron.hpp makes them from text. Thread safety: values.
//
//   daybook::cron_fields const& said = daybook::cron("0 3 L * *").fields();
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace daybook {
inline namespace v1 {

struct cron_fields {
  std::uint64_t seconds = 0;
  std::uint64_t minutes = 0;
  std::uint32_t hours = 0;
  std::uint32_t days = 0;         ///< of the month, 1 to 31
  std::uint32_t before_last = 0;  ///< bit n: `L-n`, n days before the last of the month
  std::uint32_t nearest = 0;      ///< bit n: `nW`, the working day nearest to day n of the month
  bool last_working_day = false;  ///< `LW`
  std::uint16_t months = 0;       ///< 1 to 12
  std::uint8_t weekdays = 0;      ///< 0 (Sunday) to 6
  /// [k], 1 to 5: weekdays meant as the k-th of their name in a month; [0]: as the last.
  std::array<std::uint8_t, 6> nth{};
  /// Both day fields are restricted: a day that either names will do.
  bool either_day = false;
  /// Hour or minute is `*`, `*/n` or `H/n`: the expression follows the clock through its changes,
  /// like an interval. One without is a fixed time of day: see daybook::clock_changes.
  bool follows_clock = false;
  /// There is an `H` in it.
  bool hashed = false;

  /// The days of a month with `length` days whose first is a `first` (0: Sunday); bit n is day n.
  [[nodiscard]] constexpr std::uint32_t days_in(unsigned first, unsigned length) const noexcept;
  /// There is a day, in whatever year.
  [[nodiscard]] constexpr bool possible() const noexcept;

  friend bool operator==(cron_fields const&, cron_fields const&) = default;

 private:
  [[nodiscard]] constexpr std::uint64_t by_number(unsigned first, unsigned length) const noexcept;
  [[nodiscard]] constexpr std::uint64_t by_weekday(unsigned first, unsigned length) const noexcept;
};

// --- Inline implementations ---

constexpr std::uint64_t cron_fields::by_number(unsigned first, unsigned length) const noexcept {
  constexpr unsigned saturday = 6;
  std::uint64_t found = days;
  for (auto left = before_last; left != 0; left &= left - 1) {
    auto const back = static_cast<unsigned>(std::countr_zero(left));
    if (back < length) found |= std::uint64_t{1} << (length - back);
  }
  auto const weekday_of = [&](unsigned day) { return (first + day - 1) % 7; };
  auto const work_near = [&](unsigned day) {
    if (weekday_of(day) == saturday) return day == 1 ? 3 : day - 1;
    if (weekday_of(day) == 0) return day == length ? day - 2 : day + 1;
    return day;
  };
  for (auto left = nearest; left != 0; left &= left - 1) {
    auto const day = static_cast<unsigned>(std::countr_zero(left));
    if (day <= length) found |= std::uint64_t{1} << work_near(day);
  }
  if (last_working_day) found |= std::uint64_t{1} << work_near(length);
  return found;
}

constexpr std::uint64_t cron_fields::by_weekday(unsigned first, unsigned length) const noexcept {
  // Weekdays as days of a first week, bit 0 being day 1.
  auto const week = [&](unsigned set) -> std::uint64_t {
    return ((set | set << 7U) >> first) & 127;
  };
  constexpr std::uint64_t every_week = 1 | 1U << 7U | 1U << 14U | 1U << 21U | 1U << 28U;
  auto found = week(weekdays) * every_week << 1U;
  for (unsigned k = 1; k < nth.size(); ++k) {
    if (nth[k] != 0) found |= week(nth[k]) << (7 * (k - 1) + 1);
  }
  auto const last_week = ~std::uint64_t{0} << length >> 6U;
  return found | ((week(nth[0]) * every_week << 1U) & last_week);
}

constexpr std::uint32_t cron_fields::days_in(unsigned first, unsigned length) const noexcept {
  auto const all = (std::uint64_t{2} << length) - 2;
  auto const number = by_number(first, length) & all;
  if (number == 0 && !either_day) return 0;
  auto const weekday = by_weekday(first, length) & all;
  return static_cast<std::uint32_t>(either_day ? number | weekday : number & weekday);
}

constexpr bool cron_fields::possible() const noexcept {
  constexpr std::array<unsigned, 13> lengths{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  // Every month begins on every weekday in some year, a February of 29 days too.
  for (unsigned month = 1; month <= 12; ++month) {
    if ((months >> month & 1U) == 0) continue;
    for (unsigned first = 0; first < 7; ++first) {
      if (days_in(first, lengths[month]) != 0) return true;
      if (month == 2 && days_in(first, 28) != 0) return true;
    }
  }
  return false;
}

}  // namespace v1
}  // namespace daybook
