// What is to be done about a schedule's ticks at an instant: pure, so that two nodes that know the
// same decide the same.
// Thread-safe.
#pragma once

#include "schedule/definition.hpp"

#include <daybook/time.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace daybook {
inline namespace v1 {
namespace schedules {

/// Ticks in a row that are not launched, and why.
struct skipped {
  timestamp first;
  timestamp last;
  std::int64_t count = 1;  ///< at most most_counted
  std::string why;
  /// More of them may follow for the same reason: one row is enough.
  bool goes_on = false;
};

/// A gap of years between ticks of a second must not take minutes to count.
inline constexpr std::int64_t most_counted = 100'000;

struct decision {
  std::optional<skipped> skip;      ///< before `launch`
  std::optional<timestamp> launch;  ///< this tick, now
  [[nodiscard]] bool nothing() const noexcept { return !skip && !launch; }
  /// Up to where all is decided then. Precondition: !nothing().
  [[nodiscard]] timestamp until() const { return launch ? *launch : skip->last; }
};

/// What is due now. Nothing: wait until next(decided), or, if that is past, for the tick that runs.
[[nodiscard]] decision decide(definition const& schedule, timestamp now);

/// When there is something to do next, maybe in the past; empty: nothing, before something changes.
/// Precondition: can_be_told().
[[nodiscard]] std::optional<timestamp> due(definition const& schedule);

/// Since when a tick waits that nobody launches, or that nobody goes on with; empty: none does.
[[nodiscard]] std::optional<timestamp> overdue(definition const& schedule);

/// All that is due at `now`, as skipped; empty: nothing is.
[[nodiscard]] std::optional<skipped> skip_all(definition const& schedule, timestamp now,
                                              std::string why);

}  // namespace schedules
}  // namespace v1
}  // namespace daybook
