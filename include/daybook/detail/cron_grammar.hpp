// One field of a cron expression, with a function for each part of its grammar: bodies of
// cron_reader. Every number is checked before anything is made of it. cron_reader.hpp
// includes it at its end. Thread safety: values.
#pragma once

#include <daybook/detail/cron_reader.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace daybook {
inline namespace v1 {

constexpr bool cron_reader::field() {
  if (is(cron_field::weekday) && take('+')) both_days_ = true;
  do {
    if (!element()) return false;
  } while (take(','));
  return at_ == end_ || fail(cron_fault::unexpected, at_);
}

constexpr bool cron_reader::element() {
  auto const [low, high] = range_of(field_);
  bool const a_day = is(cron_field::day) || is(cron_field::weekday);
  if (take('*') || (a_day && take('?'))) {
    star();
    return add(low, is(cron_field::weekday) ? 6 : high);
  }
  if (take('H')) return hash();
  if (is(cron_field::day) && take('L')) return last();
  auto const start = at_;
  unsigned first = 0;
  if (!value(first)) return false;
  if (is(cron_field::day) && take('W')) {
    said_.nearest |= 1U << first;
    return true;
  }
  if (is(cron_field::weekday) && (peek() == '#' || peek() == 'L')) return nth(first % 7);
  if (peek() == '/') return fail(cron_fault::step_of_number, start);
  if (!take('-')) {
    set() |= std::uint64_t{1} << first;
    return true;
  }
  unsigned end = 0;
  return range(first, end) && add(first, end);
}

/// The end of a range, and that it is not below `low`.
constexpr bool cron_reader::range(unsigned low, unsigned& high) {
  auto const start = at_;
  bool const named = peek() > '9';
  if (!value(high)) return false;
  if (named && is(cron_field::weekday) && high == 0 && low > 0) high = 7;  // FRI-SUN
  return high >= low || fail(cron_fault::backwards, start);
}

/// A number or a name that the field has.
constexpr bool cron_reader::value(unsigned& value) {
  auto const start = at_;
  if (peek() >= 'A' && peek() <= 'Z') return name(value);
  if (!number(value)) return false;
  auto const [low, high] = range_of(field_);
  return (value >= low && value <= high) || fail(cron_fault::out_of_range, start);
}

/// Any number; a long one is as good as 1000, which no field has.
constexpr bool cron_reader::number(unsigned& value) {
  constexpr unsigned too_large = 1000;
  if (peek() < '0' || peek() > '9') return fail(cron_fault::unexpected, at_);
  for (value = 0; peek() >= '0' && peek() <= '9'; ++at_) {
    value = value * 10 + static_cast<unsigned>(peek() - '0');
    if (value > too_large) value = too_large;
  }
  return true;
}

constexpr bool cron_reader::name(unsigned& value) {
  constexpr std::string_view months = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
  constexpr std::string_view weekdays = "SUNMONTUEWEDTHUFRISAT";
  std::string_view const names = is(cron_field::month)     ? months
                                 : is(cron_field::weekday) ? weekdays
                                                           : std::string_view();
  for (std::size_t i = 0; i < names.size() && end_ - at_ >= 3; i += 3) {
    bool same = true;
    for (std::size_t k = 0; k < 3; ++k) same = same && raised(text_[at_ + k]) == names[i + k];
    if (!same) continue;
    value = static_cast<unsigned>(i / 3) + range_of(field_).low;
    at_ += 3;
    return true;
  }
  return fail(names.empty() ? cron_fault::unexpected : cron_fault::name, at_);
}

/// What stands after the slash; 1 when there is none.
constexpr bool cron_reader::step(unsigned low, unsigned high, unsigned& value) {
  value = 1;
  if (!take('/')) return true;
  auto const start = at_;
  if (!number(value)) return false;
  return (value >= 1 && value <= high - low + 1) || fail(cron_fault::step, start);
}

constexpr bool cron_reader::add(unsigned low, unsigned high) {
  unsigned stride = 0;
  if (!step(low, high, stride)) return false;
  for (auto at = low; at <= high; at += stride) set() |= std::uint64_t{1} << at;
  return true;
}

/// `H`, `H/15`, `H(0-29)`, `H(0-29)/10`: a number of the name's own.
constexpr bool cron_reader::hash() {
  said_.hashed = true;
  auto [low, high] = range_of(field_);
  if (is(cron_field::weekday)) high = 6;
  bool const limited = take('(');
  if (limited) {
    if (!value(low)) return false;
    if (!take('-')) return fail(cron_fault::unexpected, at_);
    if (!range(low, high)) return false;
    if (!take(')')) return fail(cron_fault::unexpected, at_);
  }
  // Each field has numbers of its own, spread by the end of murmur3.
  auto drawn = seed_ + static_cast<std::uint64_t>(field_) * 0x9e3779b97f4a7c15U;
  drawn = (drawn ^ drawn >> 33U) * 0xff51afd7ed558ccdU;
  drawn = (drawn ^ drawn >> 33U) * 0xc4ceb9fe1a85ec53U;
  drawn ^= drawn >> 33U;
  if (peek() == '/') {
    unsigned stride = 0;
    if (!step(low, high, stride)) return false;
    if (!limited) star();
    for (auto at = low + static_cast<unsigned>(drawn % stride); at <= high; at += stride) {
      set() |= std::uint64_t{1} << at;
    }
    return true;
  }
  // A day that every month has.
  if (is(cron_field::day) && !limited) high = 28;
  set() |= std::uint64_t{1} << (low + drawn % (high - low + 1));
  return true;
}

/// After the `L` in the days of the month: `L`, `L-3`, `LW`.
constexpr bool cron_reader::last() {
  if (take('W')) return said_.last_working_day = true;
  unsigned back = 0;
  if (take('-')) {
    auto const start = at_;
    if (!number(back)) return false;
    if (back > 30) return fail(cron_fault::out_of_range, start);
  }
  said_.before_last |= 1U << back;
  return true;
}

/// After a weekday: `#2`, `#L`, `L`.
constexpr bool cron_reader::nth(unsigned weekday) {
  bool const numbered = take('#');
  unsigned k = 0;
  auto const start = at_;
  if (!take('L')) {
    if (!numbered || !number(k)) return fail(cron_fault::unexpected, at_);
    if (k < 1 || k > 5) return fail(cron_fault::out_of_range, start);
  }
  said_.nth[k] = static_cast<std::uint8_t>(said_.nth[k] | 1U << weekday);
  return true;
}

}  // namespace v1
}  // namespace daybook
