// The periods of a window: the calendar of a zone, cut. They tile: where one ends the next begins,
// also where clocks are changed.
//
// Days and months begin when clocks first show their midnight, or at the change that skips it: a
// day is 23 or 25 hours long then, and one that is skipped whole is none. So do periods of more
// than an hour. Those of an hour or less end where clocks are changed, so that an hour that comes
// twice is two periods, told apart by what clocks are ahead of UTC.
//
// The rules of a zone may become others between two passes, or be others on another node. Periods
// that have a row stay as they are in it; those on either side go on from its bounds, one of them
// shorter or longer for it.
// Thread safety: values.
#pragma once

#include <daybook/planner_options.hpp>
#include <daybook/time.hpp>
#include <daybook/zone.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace planners {

/// [start, end).
struct period {
  timestamp start;
  timestamp end;
  std::string key;  ///< "2026-11", "2026-11-21", "2026-10-25T02+02:00", "2026-10-25T02:15+02:00"
};

class periods {
 public:
  /// Around the rows that are there, from the first to the last. On failure: as zone.
  explicit periods(window_strategy const& strategy, std::optional<period> const& first = {},
                   std::optional<period> const& last = {});

  /// The one that an instant is in, which is in no row.
  [[nodiscard]] period at(timestamp instant) const;
  /// The first that begins then or later.
  [[nodiscard]] period from(timestamp instant) const;
  /// The last that ends then or earlier.
  [[nodiscard]] period until(timestamp instant) const;
  [[nodiscard]] period after(period const& period) const { return at(period.end); }
  [[nodiscard]] period before(period const& period) const {
    return at(period.start - std::chrono::microseconds{1});
  }
  /// About so many begin in [from, to).
  [[nodiscard]] std::int64_t about(timestamp from, timestamp to) const;

 private:
  /// As the zone's rules are now.
  [[nodiscard]] period cut(timestamp instant) const;
  [[nodiscard]] period before_row(period const& first) const;
  [[nodiscard]] period after_row(period const& last) const;
  [[nodiscard]] std::int64_t number_of(local_timestamp wall) const;
  [[nodiscard]] local_timestamp wall_of(std::int64_t number) const;
  [[nodiscard]] timestamp begin_of(std::int64_t number) const;
  [[nodiscard]] period between_walls(timestamp instant) const;
  [[nodiscard]] period between_changes(timestamp instant) const;
  [[nodiscard]] std::string instant_key(timestamp start) const;

  window_strategy::unit each_;
  std::chrono::minutes length_;  ///< of minutes, hours and days
  zone zone_;
  std::vector<period> joints_;  ///< the ones next to rows
};

/// The whole periods of [from, to), one after the other, in either order.
class walk {
 public:
  /// The periods are borrowed.
  walk(periods const& periods, timestamp from, timestamp to, bool newest_first)
      : periods_(&periods), from_(from), to_(to), backwards_(newest_first) {}

  /// Empty: there are no more.
  [[nodiscard]] std::optional<period> next();

 private:
  periods const* periods_;
  timestamp from_;
  timestamp to_;
  bool backwards_;
  std::optional<period> last_;
};

/// "2026-11-20T23:00:00Z".
[[nodiscard]] std::string utc_text(timestamp instant);

}  // namespace planners
}  // namespace v1
}  // namespace daybook
