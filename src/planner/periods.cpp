#include "planner/periods.hpp"

#include "calendar/zone_table.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace planners {

namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using unit = window_strategy::unit;

constexpr int months_a_year = 12;

minutes length_of(window_strategy const& strategy) {
  switch (strategy.each) {
    case unit::minute: return minutes{strategy.count};
    case unit::hour: return hours{1};
    case unit::day: break;
    case unit::month: return days{30};
  }
  return days{1};
}

std::string digits(std::int64_t value, std::size_t width) {
  auto out = std::to_string(value);
  if (out.size() < width) out.insert(0, width - out.size(), '0');
  return out;
}

std::string text_of(std::chrono::year_month month) {
  return digits(int{month.year()}, 4) + "-" + digits(unsigned{month.month()}, 2);
}

std::string text_of(std::chrono::year_month_day date) {
  return text_of(date.year() / date.month()) + "-" + digits(unsigned{date.day()}, 2);
}

/// ":15", and seconds where there are some: clocks were once not whole minutes from UTC.
std::string minutes_of(std::chrono::hh_mm_ss<seconds> const& time) {
  auto out = ":" + digits(time.minutes().count(), 2);
  if (time.seconds().count() != 0) out += ":" + digits(time.seconds().count(), 2);
  return out;
}

}  // namespace

periods::periods(window_strategy const& strategy, std::optional<period> const& first,
                 std::optional<period> const& last)
    : each_(strategy.each), length_(length_of(strategy)), zone_(strategy.zone) {
  if (first) joints_.push_back(before_row(*first));
  if (last) joints_.push_back(after_row(*last));
}

// What is now the period at a row's bound may have its row already: it has that row's key, or
// covers all of that row and others. No key comes twice, so the rest of it is its neighbour's.

period periods::before_row(period const& first) const {
  auto one = cut(first.start - microseconds{1});
  while (one.key == first.key || one.end > first.end) one = cut(one.start - microseconds{1});
  one.end = first.start;
  return one;
}

period periods::after_row(period const& last) const {
  auto one = cut(last.end);
  while (one.key == last.key || one.start < last.start) one = cut(one.end);
  one.start = last.end;
  return one;
}

period periods::at(timestamp instant) const {
  auto const joint = std::find_if(joints_.begin(), joints_.end(), [&](period const& one) {
    return one.start <= instant && instant < one.end;
  });
  return joint == joints_.end() ? cut(instant) : *joint;
}

period periods::cut(timestamp instant) const {
  return length_ > hours{1} ? between_walls(instant) : between_changes(instant);
}

period periods::from(timestamp instant) const {
  auto one = at(instant);
  return one.start < instant ? after(one) : one;
}

period periods::until(timestamp instant) const {
  auto one = at(instant - microseconds{1});
  return one.end > instant ? before(one) : one;
}

std::int64_t periods::about(timestamp from, timestamp to) const {
  return from < to ? (to - from) / length_ : 0;
}

// On a calendar without zones, periods are numbered.

std::int64_t periods::number_of(local_timestamp wall) const {
  if (each_ != unit::month) {
    auto const day = floor<days>(wall);  // which they divide, or are
    return day.time_since_epoch() / length_ + (wall - day) / length_;
  }
  std::chrono::year_month_day const date(floor<days>(wall));
  return std::int64_t{int{date.year()}} * months_a_year + unsigned{date.month()} - 1;
}

local_timestamp periods::wall_of(std::int64_t number) const {
  if (each_ != unit::month) return local_timestamp(number * length_);
  auto const of_year = (number % months_a_year + months_a_year) % months_a_year;
  std::chrono::year const year{static_cast<int>((number - of_year) / months_a_year)};
  std::chrono::month const month{static_cast<unsigned>(of_year) + 1};
  return std::chrono::local_days(year / month / 1);
}

timestamp periods::begin_of(std::int64_t number) const {
  return zone_.to_instants(wall_of(number)).first;
}

period periods::between_walls(timestamp instant) const {
  auto number = number_of(zone_.to_local(instant).time);
  // Clocks that were set back over a midnight show the day before once more.
  while (instant < begin_of(number)) --number;
  while (begin_of(number + 1) <= instant) ++number;
  period out{begin_of(number), begin_of(number + 1), {}};
  std::chrono::year_month_day const date(floor<days>(wall_of(number)));
  switch (each_) {
    case unit::month: out.key = text_of(date.year() / date.month()); break;
    case unit::day: out.key = text_of(date); break;
    default: out.key = instant_key(out.start);
  }
  return out;
}

period periods::between_changes(timestamp instant) const {
  auto const& changes = zone_.internals();
  auto const here = changes.at(floor<seconds>(instant));
  auto const wall = wall_of(number_of(zone_.to_local(instant).time));
  std::chrono::sys_seconds start(floor<seconds>(wall.time_since_epoch()) - here.offset);
  auto end = start + length_;
  // Not each change of a zone is one of its clocks: its name may be another from then on.
  for (auto s = here; start < s.begin; s = changes.at(s.begin - seconds{1})) {
    if (s.before != here.offset) start = s.begin;
  }
  for (auto s = here; s.end < end; s = changes.at(s.end)) {
    if (s.after != here.offset) end = s.end;
  }
  return {start, end, instant_key(start)};
}

/// When it begins, as clocks show it, and what they are ahead of UTC.
std::string periods::instant_key(timestamp start) const {
  auto const wall = zone_.to_local(start);
  auto const date = floor<days>(wall.time);
  std::chrono::hh_mm_ss const time(floor<seconds>(wall.time - date));
  auto out = text_of(std::chrono::year_month_day(date)) + "T" + digits(time.hours().count(), 2);
  if (each_ == unit::minute) out += minutes_of(time);
  std::chrono::hh_mm_ss const ahead(wall.offset);
  out += (ahead.is_negative() ? "-" : "+") + digits(ahead.hours().count(), 2);
  return out + minutes_of(ahead);
}

std::optional<period> walk::next() {
  if (backwards_) {
    last_ = last_ ? periods_->before(*last_) : periods_->until(to_);
    if (last_->start < from_) return std::nullopt;
  } else {
    last_ = last_ ? periods_->after(*last_) : periods_->from(from_);
    if (last_->end > to_) return std::nullopt;
  }
  return last_;
}

std::string utc_text(timestamp instant) {
  auto const date = floor<days>(instant);
  std::chrono::hh_mm_ss const time(floor<seconds>(instant - date));
  return text_of(std::chrono::year_month_day(date)) + "T" + digits(time.hours().count(), 2) + ":" +
         digits(time.minutes().count(), 2) + ":" + digits(time.seconds().count(), 2) + "Z";
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
