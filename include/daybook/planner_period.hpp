// The periods of a plan that is a window, as people see them: one row of a grid each.
// Thread safety: values.
//
//   for (auto const& day : plan.grid({.newest_first = true, .limit = 30})) {
//     std::cout << day.key << ' ' << daybook::word_of(day.state) << ' ' << day.remark << '\n';
//   }
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {

/// Where a period stands, as its task does now.
enum class period_state : std::uint8_t {
  missing = 0,  ///< over, and not launched, or reopened: the next pass launches it
  waiting = 1,  ///< launched
  running = 2,
  done = 3,
  failed = 4,  ///< its task is dead, discarded or removed, or waits for a person
};

/// "missing", "waiting", ...
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(period_state state) noexcept;

/// A period that is over.
struct period_info {
  std::string key = {};  ///< "2026-11-21"
  timestamp from{};
  timestamp to{};  ///< where the next begins
  period_state state{};
  std::int64_t launches = 0;
  std::optional<timestamp> launched = {};  ///< last
  std::optional<timestamp> done = {};      ///< when a pass saw that it was
  std::optional<timestamp> reopened = {};  ///< and not launched since
  std::string remark = {};                 ///< of its task's newest outcome
};

struct grid_query {
  /// Periods from here on; empty: from window_strategy::since.
  std::optional<timestamp> from = {};
  /// That are over by then; empty: now.
  std::optional<timestamp> to = {};
  bool newest_first = false;
  int limit = 100;  ///< 1 to 10 000
};

}  // namespace v1
}  // namespace daybook
