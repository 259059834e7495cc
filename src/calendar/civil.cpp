#include "calendar/civil.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace daybook {
inline namespace v1 {
namespace calendar {

namespace {

using std::chrono::days;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::seconds;
using std::chrono::weekday;
using std::chrono::year;
using std::chrono::year_month_day;

constexpr int none = -1;

/// The lowest number of the set that is not below `start`.
int lowest(std::uint64_t set, int start) {
  if (start > 63) return none;
  auto const left = set >> start;
  return left == 0 ? none : start + std::countr_zero(left);
}

/// The highest number of the set that is not above `start`.
int highest(std::uint64_t set, int start) {
  if (start < 0) return none;
  auto const left = set << (63 - start);
  return left == 0 ? none : start - std::countl_zero(left);
}

struct clock_time {
  int hour;
  int minute;
  int second;
};

clock_time split(seconds of_day) {
  auto const count = static_cast<int>(of_day.count());
  return {count / 3600, count / 60 % 60, count % 60};
}

seconds joined(int hour, int minute, int second) {
  return seconds{hour * 3600 + minute * 60 + second};
}

std::optional<seconds> time_from(cron_fields const& said, seconds from) {
  auto const at = split(from);
  int const minute = lowest(said.minutes, 0);
  int const second = lowest(said.seconds, 0);
  if (lowest(said.hours, at.hour) == at.hour) {
    if (lowest(said.minutes, at.minute) == at.minute) {
      int const found = lowest(said.seconds, at.second);
      if (found != none) return joined(at.hour, at.minute, found);
    }
    int const found = lowest(said.minutes, at.minute + 1);
    if (found != none) return joined(at.hour, found, second);
  }
  int const found = lowest(said.hours, at.hour + 1);
  if (found == none) return std::nullopt;
  return joined(found, minute, second);
}

std::optional<seconds> time_until(cron_fields const& said, seconds from) {
  auto const at = split(from);
  int const minute = highest(said.minutes, 59);
  int const second = highest(said.seconds, 59);
  if (highest(said.hours, at.hour) == at.hour) {
    if (highest(said.minutes, at.minute) == at.minute) {
      int const found = highest(said.seconds, at.second);
      if (found != none) return joined(at.hour, at.minute, found);
    }
    int const found = highest(said.minutes, at.minute - 1);
    if (found != none) return joined(at.hour, found, second);
  }
  int const found = highest(said.hours, at.hour - 1);
  if (found == none) return std::nullopt;
  return joined(found, minute, second);
}

/// A month that knows on which weekday it begins, and goes to others without counting days anew.
class month_on_calendar {
 public:
  month_on_calendar(year y, std::chrono::month m)
      : year_(int{y}), month_(static_cast<int>(unsigned{m})), leap_(y.is_leap()) {
    new_year_ = weekday{local_days{y / 1 / 1}}.c_encoding();
  }

  /// The days that are meant; bit n is day n.
  [[nodiscard]] std::uint64_t days(cron_fields const& said) const {
    if ((said.months >> month_ & 1) == 0) return 0;
    constexpr std::array<unsigned, 13> lengths{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    constexpr std::array<unsigned, 13> before{0,   0,   31,  59,  90,  120, 151,
                                              181, 212, 243, 273, 304, 334};
    auto const number = static_cast<std::size_t>(month_);
    unsigned const leap = leap_ ? 1 : 0;
    auto const first = (new_year_ + before[number] + (month_ > 2 ? leap : 0)) % 7;
    return said.days_in(first, lengths[number] + (month_ == 2 ? leap : 0));
  }
  /// To the next month that is meant. False: the calendar is over.
  bool forward(std::uint16_t months) {
    month_ = lowest(months, month_ + 1);
    if (month_ != none) return true;
    if (year_ == int{last_year}) return false;
    new_year_ += leap_ ? 2 : 1;
    go_to(year_ + 1);
    month_ = lowest(months, 1);
    return true;
  }
  bool back(std::uint16_t months) {
    month_ = highest(months, month_ - 1);
    if (month_ != none) return true;
    if (year_ == int{first_year}) return false;
    go_to(year_ - 1);
    new_year_ += leap_ ? 5 : 6;
    month_ = highest(months, 12);
    return true;
  }
  [[nodiscard]] local_days day(int number) const {
    return local_days{year{year_} / month_ / number};
  }

 private:
  void go_to(int y) {
    year_ = y;
    leap_ = year{y}.is_leap();
  }

  int year_;
  int month_;
  bool leap_;
  unsigned new_year_;  ///< a weekday, modulo 7
};

}  // namespace

std::optional<local_seconds> match_from(cron_fields const& said, local_seconds from) {
  auto const start = std::max(from, local_seconds{local_days{first_year / 1 / 1}});
  if (start >= local_days{(last_year + std::chrono::years{1}) / 1 / 1}) return std::nullopt;
  auto const today = std::chrono::floor<days>(start);
  year_month_day const date{today};
  month_on_calendar month(date.year(), date.month());
  auto const number = static_cast<int>(unsigned{date.day()});
  auto const set = month.days(said);
  if ((set >> number & 1) != 0) {
    if (auto const time = time_from(said, start - today)) return today + *time;
  }
  int found = lowest(set, number + 1);
  while (found == none) {
    if (!month.forward(said.months)) return std::nullopt;
    found = lowest(month.days(said), 1);
  }
  return month.day(found) +
         joined(lowest(said.hours, 0), lowest(said.minutes, 0), lowest(said.seconds, 0));
}

std::optional<local_seconds> match_until(cron_fields const& said, local_seconds from) {
  local_seconds const end = local_days{(last_year + std::chrono::years{1}) / 1 / 1};
  auto const start = std::min(from, end - seconds{1});
  if (start < local_days{first_year / 1 / 1}) return std::nullopt;
  auto const today = std::chrono::floor<days>(start);
  year_month_day const date{today};
  month_on_calendar month(date.year(), date.month());
  auto const number = static_cast<int>(unsigned{date.day()});
  auto const set = month.days(said);
  if ((set >> number & 1) != 0) {
    if (auto const time = time_until(said, start - today)) return today + *time;
  }
  int found = highest(set, number - 1);
  while (found == none) {
    if (!month.back(said.months)) return std::nullopt;
    found = highest(month.days(said), 31);
  }
  return month.day(found) +
         joined(highest(said.hours, 23), highest(said.minutes, 59), highest(said.seconds, 59));
}

}  // namespace calendar
}  // namespace v1
}  // namespace daybook
