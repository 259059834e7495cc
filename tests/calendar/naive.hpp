// A cron of the tests' own: slow, short, and written without a look at the library's. It asks of
// every minute whether it matches, has its clock from the C library, and is awake every minute as
// Debian's cron is.
#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <set>
#include <string>
#include <vector>

namespace naive {

/// Five fields of an expression.
class expression {
 public:
  explicit expression(std::string text);

  [[nodiscard]] std::string const& text() const { return text_; }
  /// A `*` in minute or hour.
  [[nodiscard]] bool wild() const { return wild_; }
  [[nodiscard]] bool matches_day(std::tm const& day) const;
  [[nodiscard]] bool matches_time(int hour, int minute) const {
    return hours_.contains(hour) && minutes_.contains(minute);
  }

 private:
  [[nodiscard]] bool matches_number(std::tm const& day) const;
  [[nodiscard]] bool matches_weekday(std::tm const& day) const;

  std::string text_;
  std::array<std::string, 5> fields_;
  std::set<int> minutes_;
  std::set<int> hours_;
  std::set<int> months_;
  bool wild_ = false;
};

/// What the C library's clocks show; the zone is the process's own.
void set_zone(std::string const& name);
/// What they are ahead of UTC, in seconds.
long offset_at(std::time_t instant);
/// The instants in [from, to) from which they show another offset; a day may hide two.
std::vector<std::time_t> changes(std::time_t from, std::time_t to);

/// What the zone's clocks show, in minutes, in each minute of [from, to) and of the day before it.
struct watch {
  watch(std::time_t from, std::time_t to);
  std::time_t start;
  std::time_t from;
  std::vector<std::time_t> minutes;
};

/// The minutes of a watch in which Debian's cron starts a job, awake from a day before.
std::vector<std::time_t> debian(expression const& job, watch const& over);

}  // namespace naive
