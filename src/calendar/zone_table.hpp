// A zone as the list of its changes of clocks. After the last that its file has, the file's rule
// goes on; the calendar repeats itself after 400 years, and so does the list.
// Thread safety: never changes once made.
#pragma once

#include "calendar/posix_rule.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace calendar {

/// Far beyond every year there is, with room to add offsets.
inline constexpr std::chrono::sys_seconds before_time{
    std::chrono::seconds{-(std::int64_t{1} << 41)}};
inline constexpr std::chrono::sys_seconds after_time{std::chrono::seconds{std::int64_t{1} << 41}};

/// Clocks are not so far from UTC.
inline constexpr std::chrono::hours most_offset{26};

/// A time in which clocks are not changed: [begin, end), and the offsets beside it.
struct stretch {
  std::chrono::sys_seconds begin;
  std::chrono::sys_seconds end;
  std::chrono::seconds before;
  std::chrono::seconds offset;
  std::chrono::seconds after;
  std::size_t kind;
};

struct change {
  std::chrono::sys_seconds at;
  std::size_t kind;  ///< from then on
};

class zone_table {
 public:
  /// UTC.
  zone_table();
  /// `changes` in their order; `first` is the kind before them. The rule holds from the last on.
  zone_table(std::vector<clock_kind> kinds, std::size_t first, std::vector<change> changes,
             std::optional<posix_rule> const& rule);

  [[nodiscard]] stretch at(std::chrono::sys_seconds instant) const;
  [[nodiscard]] clock_kind const& kind(std::size_t number) const { return kinds_[number]; }

 private:
  std::size_t number_of(clock_kind const& kind);
  void follow(posix_rule const& rule);
  [[nodiscard]] stretch listed(std::chrono::sys_seconds instant) const;

  std::vector<clock_kind> kinds_;
  std::size_t first_ = 0;
  std::vector<change> changes_;
  /// From here on the list repeats itself, if it does.
  std::optional<std::chrono::sys_seconds> cycle_;
};

}  // namespace calendar
}  // namespace v1
}  // namespace daybook
