// Time zones by their IANA names, read from the system's zoneinfo files, and what a fixed time of
// day means on the days when clocks change.
// Thread safety: values that never change; copies share their tables.
//
//   daybook::zone const berlin("Europe/Berlin");
//   auto const wall = berlin.to_local(instant);  // 02:30 CEST; an hour later 02:30 CET
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/time.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace daybook {
inline namespace v1 {

namespace calendar {
class zone_table;
}  // namespace calendar

/// A date and time of day as a clock shows it, without a zone.
using local_timestamp = std::chrono::local_time<std::chrono::microseconds>;

/// A local time that is skipped (in spring, where clocks are set forward).
enum class gap : std::uint8_t {
  after = 0,  ///< at the instant of the change; several become one
  skip = 1,   ///< not at all that day
};

/// A local time that comes twice (in autumn, where clocks are set back).
enum class fold : std::uint8_t { first = 0, second = 1, both = 2 };

/// What to do with a fixed time of day that a change of clocks by less than three hours skips or
/// repeats. The default is what Debian's cron does. A change by three hours or more is a correction
/// of the calendar: what it skips is skipped, what it repeats comes twice.
struct clock_changes {
  daybook::gap gap = gap::after;
  daybook::fold fold = fold::first;
  friend bool operator==(clock_changes const&, clock_changes const&) = default;
};

/// An instant as people in a zone see it.
struct wall_time {
  local_timestamp time;
  std::chrono::seconds offset{0};  ///< how far the zone is ahead of UTC
  std::string abbreviation;        ///< "CEST", "+03"
  bool daylight = false;
};

/// The instants at which clocks show a local time.
struct local_meaning {
  enum class kind : std::uint8_t { once, never, twice };
  kind comes = kind::once;
  timestamp first;   ///< never: the instant of the change that skips it
  timestamp second;  ///< twice: the later one; else as `first`
};

class DAYBOOK_EXPORT zone {
 public:
  /// UTC, which needs no file.
  zone();
  /// Reads the zone from the folder that TZDIR names, else from /usr/share/zoneinfo, at each call.
  /// On failure: throws daybook::error: bad_argument for an invalid or unknown name, configuration
  /// for a broken file, io for a file that cannot be read.
  explicit zone(std::string name);

  [[nodiscard]] std::string const& name() const noexcept { return name_; }
  [[nodiscard]] wall_time to_local(timestamp instant) const;
  [[nodiscard]] local_meaning to_instants(local_timestamp local) const;

  /// For the other rooms of this library only.
  [[nodiscard]] calendar::zone_table const& internals() const noexcept { return *table_; }
  zone(std::string name, std::shared_ptr<calendar::zone_table const> table);

 private:
  std::string name_;
  std::shared_ptr<calendar::zone_table const> table_;
};

}  // namespace v1
}  // namespace daybook
