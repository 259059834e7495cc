#include "calendar/posix_rule.hpp"

#include <cstddef>

namespace daybook {
inline namespace v1 {
namespace calendar {

namespace {

using std::chrono::seconds;

/// Takes the text apart from the front; empty: what stands there is something else.
class rule_reader {
 public:
  explicit rule_reader(std::string_view text) : left_(text) {}

  [[nodiscard]] bool done() const { return left_.empty(); }
  [[nodiscard]] bool next_is(char c) const { return !left_.empty() && left_.front() == c; }
  bool take(char c) {
    if (!next_is(c)) return false;
    left_.remove_prefix(1);
    return true;
  }

  std::optional<int> number(int low, int high) {
    int value = 0;
    std::size_t digits = 0;
    while (digits < left_.size() && left_[digits] >= '0' && left_[digits] <= '9' && digits < 4) {
      value = value * 10 + (left_[digits++] - '0');
    }
    if (digits == 0 || value < low || value > high) return std::nullopt;
    left_.remove_prefix(digits);
    return value;
  }

  /// hours[:minutes[:seconds]], with a sign before them or not.
  std::optional<seconds> time(int most_hours) {
    bool const back = take('-');
    if (!back) take('+');
    auto const hours = number(0, most_hours);
    if (!hours) return std::nullopt;
    int total = *hours * 3600;
    for (int const unit : {60, 1}) {
      if (!take(':')) break;
      auto const part = number(0, 59);
      if (!part) return std::nullopt;
      total += *part * unit;
    }
    return seconds{back ? -total : total};
  }

  /// "CET", or "<+03>".
  std::optional<std::string> abbreviation() {
    bool const quoted = take('<');
    std::size_t length = 0;
    auto const allowed = [&](char c) {
      bool const letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
      return letter || (quoted && ((c >= '0' && c <= '9') || c == '+' || c == '-'));
    };
    while (length < left_.size() && allowed(left_[length])) ++length;
    constexpr std::size_t longest = 16;
    if (length < 3 || length > longest) return std::nullopt;
    std::string found(left_.substr(0, length));
    left_.remove_prefix(length);
    if (quoted && !take('>')) return std::nullopt;
    return found;
  }

  std::optional<yearly> date() {
    yearly found;
    std::optional<int> day;
    if (take('M')) {
      auto const month = number(1, 12);
      auto const week = month && take('.') ? number(1, 5) : std::nullopt;
      auto const weekday = week && take('.') ? number(0, 6) : std::nullopt;
      if (!weekday) return std::nullopt;
      found.month = *month;
      found.week = *week;
      found.weekday = *weekday;
    } else {
      bool const julian = take('J');
      found.by = julian ? yearly::form::without_leap_day : yearly::form::with_leap_day;
      day = number(julian ? 1 : 0, 365);
      if (!day) return std::nullopt;
      found.day = *day;
    }
    if (!take('/')) return found;
    constexpr int a_week = 167;
    auto const at = time(a_week);
    if (!at) return std::nullopt;
    found.time = *at;
    return found;
  }

 private:
  std::string_view left_;
};

/// POSIX counts what a zone is behind UTC.
std::optional<seconds> ahead(rule_reader& reader) {
  constexpr int a_day = 24;
  auto const behind = reader.time(a_day);
  if (!behind) return std::nullopt;
  return -*behind;
}

std::optional<daylight_rule> read_summer(rule_reader& reader, seconds standard) {
  daylight_rule found;
  auto const name = reader.abbreviation();
  if (!name) return std::nullopt;
  std::optional<seconds> offset = standard + std::chrono::hours{1};
  if (!reader.next_is(',')) offset = ahead(reader);
  if (!offset) return std::nullopt;
  found.kind = {.offset = *offset, .abbreviation = *name, .daylight = true};
  auto const start = reader.take(',') ? reader.date() : std::nullopt;
  auto const end = start && reader.take(',') ? reader.date() : std::nullopt;
  if (!end || !reader.done()) return std::nullopt;
  found.start = *start;
  found.end = *end;
  return found;
}

}  // namespace

std::chrono::local_seconds yearly::in(std::chrono::year y) const {
  using std::chrono::days;
  using std::chrono::local_days;
  if (by == form::week_of_month) {
    std::chrono::month const in_month{static_cast<unsigned>(month)};
    std::chrono::weekday const on{static_cast<unsigned>(weekday)};
    if (week == 5) return local_days{y / in_month / on[std::chrono::last]} + time;
    return local_days{y / in_month / on[static_cast<unsigned>(week)]} + time;
  }
  // Day 60 is the first of March in every year when leap days are not counted.
  bool const after_leap_day = by == form::without_leap_day && y.is_leap() && day >= 60;
  int const from_new_year = by == form::with_leap_day ? day : day - 1 + (after_leap_day ? 1 : 0);
  return local_days{y / 1 / 1} + days{from_new_year} + time;
}

std::optional<posix_rule> read_posix_rule(std::string_view text) {
  rule_reader from(text);
  posix_rule found;
  auto const name = from.abbreviation();
  auto const offset = name ? ahead(from) : std::nullopt;
  if (!offset) return std::nullopt;
  found.standard = {.offset = *offset, .abbreviation = *name};
  if (from.done()) return found;
  found.summer = read_summer(from, *offset);
  if (!found.summer) return std::nullopt;
  return found;
}

}  // namespace calendar
}  // namespace v1
}  // namespace daybook
