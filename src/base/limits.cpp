#include "base/limits.hpp"

#include <daybook/error.hpp>

#include <array>

namespace daybook {
inline namespace v1 {
namespace base {

namespace {

constexpr std::array<std::string_view, 6> units{"us", "ms", "second", "minute", "hour", "day"};
constexpr std::array<std::int64_t, 5> to_the_next{1000, 1000, 60, 60, 24};
constexpr std::size_t days = units.size() - 1;

struct length {
  std::int64_t count;
  std::size_t unit;
};

/// In the largest unit in which it is whole.
length whole(length duration) {
  while (duration.unit < days && duration.count % to_the_next[duration.unit] == 0) {
    duration.count /= to_the_next[duration.unit++];
  }
  return duration;
}

std::string counted(std::int64_t count, std::string_view unit) {
  bool const word = unit.size() > 2;
  return std::to_string(count) + " " + std::string(unit) + (word && count != 1 ? "s" : "");
}

std::string exact(length duration) {
  if (duration.count == 0) return "0";
  auto const out = whole(duration);
  return counted(out.count, units.at(out.unit));
}

/// As people say it: a limit of 3653 days is one of 10 years.
std::string round(length duration) {
  auto const out = whole(duration);
  auto const years = out.unit == days ? out.count / 365 : 0;
  bool const leap_days_only = out.count % 365 <= years / 4 + 1;
  return years > 0 && leap_days_only ? counted(years, "year") : exact(duration);
}

}  // namespace

void refuse_argument(std::string const& text) {
  throw error({.kind = error_code::bad_argument}, text);
}

void limits::length(std::string_view subject, std::string_view text, std::size_t most) const {
  if (text.size() <= most) return;
  refuse(std::string(subject) + " is " + std::to_string(text.size()) + " bytes long: at most " +
         std::to_string(most) + " are allowed");
}

void limits::refuse(std::string_view why) const {
  auto const whose = name_.empty() ? "" : " '" + std::string(name_) + "'";
  throw error({.kind = error_code::bad_argument},
              std::string(kind_) + whose + ": " + std::string(why));
}

void limits::refuse(std::string_view reason, std::string const& value, std::string const& least,
                    std::string const& most) const {
  refuse(std::string(reason) + " is " + value + ": it must be between " + least + " and " + most);
}

void limits::refuse_length(std::string_view subject, std::int64_t value, std::int64_t least,
                           std::int64_t most, unit unit) const {
  auto const shown_in = static_cast<std::size_t>(unit);
  refuse(subject, exact({value, shown_in}), round({least, shown_in}), round({most, shown_in}));
}

}  // namespace base
}  // namespace v1
}  // namespace daybook
