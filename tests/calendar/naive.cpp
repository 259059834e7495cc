#include "calendar/naive.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace naive {

namespace {

constexpr std::time_t a_minute = 60;
constexpr std::time_t a_day = 86400;

std::vector<std::string> split(std::string const& text, char at) {
  std::istringstream in(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

int value(std::string const& text) {
  static std::vector<std::string> const names{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};
  static std::vector<std::string> const months{"",    "JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                               "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
  for (auto const* list : {&names, &months}) {
    auto const found = std::find(list->begin(), list->end(), text);
    if (!text.empty() && found != list->end()) return static_cast<int>(found - list->begin());
  }
  return std::stoi(text);
}

/// "1-5/2" of a field from `low` to `high`.
bool in_element(std::string const& element, int number, int low, int high) {
  auto const parts = split(element, '/');
  int const by = parts.size() > 1 ? std::stoi(parts[1]) : 1;
  int first = low;
  int last = high;
  if (parts[0] != "*") {
    auto const ends = split(parts[0], '-');
    first = last = value(ends[0]);
    if (ends.size() > 1) last = value(ends[1]);
  }
  return number >= first && number <= last && (number - first) % by == 0;
}

bool in_field(std::string const& field, int number, int low, int high) {
  auto const elements = split(field, ',');
  return std::any_of(elements.begin(), elements.end(),
                     [&](auto const& one) { return in_element(one, number, low, high); });
}

std::set<int> numbers(std::string const& field, int low, int high) {
  std::set<int> found;
  for (int i = low; i <= high; ++i) {
    if (in_field(field, i, low, high)) found.insert(i);
  }
  return found;
}

int days_of_month(std::tm const& day) {
  static std::array<int, 12> const lengths{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int const year = day.tm_year + 1900;
  bool const leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return lengths.at(static_cast<std::size_t>(day.tm_mon)) + (day.tm_mon == 1 && leap ? 1 : 0);
}

/// The weekday of another day of the month.
int weekday_of(std::tm const& day, int number) {
  return ((day.tm_wday + number - day.tm_mday) % 7 + 7) % 7;
}

/// The working day of this month that is least far from `number`.
int nearest(std::tm const& day, int number) {
  int best = 0;
  for (int i = 1; i <= days_of_month(day); ++i) {
    bool const works = weekday_of(day, i) != 0 && weekday_of(day, i) != 6;
    if (works && (best == 0 || std::abs(i - number) < std::abs(best - number))) best = i;
  }
  return best;
}

std::tm shown(std::time_t local_minute) {
  std::time_t const seconds = local_minute * a_minute;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return parts;
}

}  // namespace

expression::expression(std::string text) : text_(std::move(text)) {
  std::istringstream in(text_);
  for (auto& field : fields_) in >> field;
  minutes_ = numbers(fields_[0], 0, 59);
  hours_ = numbers(fields_[1], 0, 23);
  months_ = numbers(fields_[3], 1, 12);
  wild_ = (fields_[0] + fields_[1]).find('*') != std::string::npos;
}

bool expression::matches_number(std::tm const& day) const {
  auto const elements = split(fields_[2], ',');
  int const last = days_of_month(day);
  return std::any_of(elements.begin(), elements.end(), [&](std::string const& one) {
    if (one == "L") return day.tm_mday == last;
    if (one == "LW") return day.tm_mday == nearest(day, last);
    if (one.starts_with("L-")) return day.tm_mday == last - std::stoi(one.substr(2));
    if (one.ends_with('W')) {
      int const number = std::stoi(one);
      return number <= last && day.tm_mday == nearest(day, number);
    }
    return in_element(one, day.tm_mday, 1, 31);
  });
}

bool expression::matches_weekday(std::tm const& day) const {
  auto const field = fields_[4].starts_with('+') ? fields_[4].substr(1) : fields_[4];
  auto const elements = split(field, ',');
  return std::any_of(elements.begin(), elements.end(), [&](std::string const& one) {
    if (auto const hash = one.find('#'); hash != std::string::npos) {
      bool const named = value(one.substr(0, hash)) % 7 == day.tm_wday;
      return named && (day.tm_mday + 6) / 7 == std::stoi(one.substr(hash + 1));
    }
    if (one.ends_with('L')) {
      bool const named = value(one.substr(0, one.size() - 1)) % 7 == day.tm_wday;
      return named && day.tm_mday + 7 > days_of_month(day);
    }
    return in_element(one, day.tm_wday, 0, 6) || (day.tm_wday == 0 && in_element(one, 7, 0, 6));
  });
}

bool expression::matches_day(std::tm const& day) const {
  if (!months_.contains(day.tm_mon + 1)) return false;
  auto const has_star = [](std::string const& f) { return f.find('*') != std::string::npos; };
  bool const both = has_star(fields_[2]) || has_star(fields_[4]) || fields_[4].starts_with('+');
  bool const number = matches_number(day);
  bool const weekday = matches_weekday(day);
  return both ? number && weekday : number || weekday;
}

void set_zone(std::string const& name) {
  setenv("TZ", (":" + name).c_str(), 1);
  tzset();
}

long offset_at(std::time_t instant) {
  std::tm parts{};
  localtime_r(&instant, &parts);
  return parts.tm_gmtoff;
}

std::vector<std::time_t> changes(std::time_t from, std::time_t to) {
  std::vector<std::time_t> found;
  for (auto day = from; day < to; day += a_day) {
    auto before = day;
    auto after = day + a_day;
    if (offset_at(before) == offset_at(after)) continue;
    while (after - before > 1) {
      auto const middle = before + (after - before) / 2;
      (offset_at(middle) == offset_at(day) ? before : after) = middle;
    }
    found.push_back(after);
  }
  return found;
}

watch::watch(std::time_t first, std::time_t to) : start(first - a_day), from(first) {
  for (auto at = start; at < to; at += a_minute) minutes.push_back((at + offset_at(at)) / a_minute);
}

// The loop of Debian's cron: minutes of its virtual clock are run one by one, and what the real
// local clock does between two looks decides which jobs. Its manual says "less than three hours"
// where its code has one minute more or less; the manual counts.
std::vector<std::time_t> debian(expression const& job, watch const& over) {
  constexpr std::time_t correction = 180;
  std::vector<std::time_t> started;
  std::time_t day = -1;
  bool day_matches = false;
  auto const matches = [&](std::time_t local) {
    auto const parts = shown(local);
    if (day != local / 1440) {
      day = local / 1440;
      day_matches = job.matches_day(parts);
    }
    return day_matches && job.matches_time(parts.tm_hour, parts.tm_min);
  };
  auto clock = over.minutes.front() - 1;
  auto instant = over.start;
  for (auto const now : over.minutes) {
    auto const moved = now - clock - 1;  // by people, beyond the minute that went by
    bool start = false;
    if (moved == 0 || moved >= correction || moved <= -correction) {
      clock = now;
      start = matches(clock);
    } else if (moved > 0) {
      start = job.wild() && matches(now);
      while (clock < now) {
        ++clock;
        start = (!job.wild() && matches(clock)) || start;
      }
    } else {
      start = job.wild() && matches(now);
    }
    if (start && instant >= over.from) started.push_back(instant);
    instant += a_minute;
  }
  return started;
}

}  // namespace naive
