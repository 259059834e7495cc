// What can be wrong with a cron expression, and where. Thread safety: values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace daybook {
inline namespace v1 {

enum class cron_field : std::uint8_t { second, minute, hour, day, month, weekday };

enum class cron_fault : std::uint8_t {
  none,
  too_long,
  too_few_fields,
  too_many_fields,
  nickname,        ///< an @name that is none
  unexpected,      ///< a character that cannot stand there
  name,            ///< letters that are no month, no weekday
  out_of_range,    ///< a number that the field does not have
  backwards,       ///< a range from high to low
  step,            ///< a step of 0, or wider than its range
  step_of_number,  ///< `5/15`
  never,           ///< 30 February
};

struct cron_error {
  cron_fault what = cron_fault::none;
  cron_field field = cron_field::second;
  std::size_t at = 0;  ///< which byte of the text, from 0
};

struct cron_range {
  unsigned low;
  unsigned high;
};

/// Which numbers a field has.
[[nodiscard]] constexpr cron_range range_of(cron_field field) noexcept {
  constexpr std::array<cron_range, 6> ranges{{{0, 59}, {0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 7}}};
  return ranges[static_cast<std::size_t>(field)];
}

/// The reason is the text after `throw`, in the line that the compiler shows.
constexpr void require_right_cron(cron_fault wrong) {
  switch (wrong) {
    case cron_fault::none: return;
    case cron_fault::too_long: throw "a cron expression has at most 255 bytes";
    case cron_fault::too_few_fields: throw "a cron expression has five fields, or six";
    case cron_fault::too_many_fields: throw "a cron expression has six fields at most, no years";
    case cron_fault::nickname: throw "there are @yearly, @monthly, @weekly, @daily and @hourly";
    case cron_fault::unexpected: throw "a character cannot stand where it does";
    case cron_fault::name: throw "months are JAN to DEC, weekdays SUN to SAT";
    case cron_fault::out_of_range: throw "a number is not in its field's range";
    case cron_fault::backwards: throw "a range runs backwards";
    case cron_fault::step: throw "a step is 0, or wider than its range";
    case cron_fault::step_of_number: throw "a step needs a range: 5-59/15";
    case cron_fault::never: throw "there is no such day in any year";
  }
}

}  // namespace v1
}  // namespace daybook
