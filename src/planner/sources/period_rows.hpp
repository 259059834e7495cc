// The periods that a window planner has made, as they stand in their rows.
// Thread safety: values; the functions as the session they are given.
#pragma once

#include "core/tx/context.hpp"
#include "planner/periods.hpp"

#include <daybook/planner.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace planners {

/// What there is.
struct bounds {
  timestamp now{};
  std::optional<period> first;    ///< empty: there was never one
  std::optional<period> last;     ///< the same
  std::optional<timestamp> open;  ///< the first since `since` that is not done begins then
};
[[nodiscard]] bounds bounds_of(core::context const& context, std::int64_t planner, timestamp since);

/// From the columns start_us, end_us, key; empty: they are null.
[[nodiscard]] std::optional<period> period_in(std::span<cell const> columns);

/// A period that is not done.
struct open_period {
  /// Where its task stands.
  enum class course : std::uint8_t { none, under_way, succeeded, failed };
  planners::period what;
  bool launched_before = false;
  std::optional<timestamp> launched = {};
  bool reopened = false;
  course task = course::none;
};

/// A page of open periods of one state, after a mark.
struct page_of_periods {
  enum class state : std::int64_t { due = 0, launched = 1 };
  state of{};
  bool newest_first = false;
  timestamp mark{};  ///< periods beyond it
  std::int64_t limit = 0;
};
[[nodiscard]] std::vector<open_period> read_open(core::context const& context, std::int64_t planner,
                                                 std::int64_t queue,
                                                 page_of_periods const& periods);

/// Before the planner is made or changed. On failure: daybook::error (error_code::bad_argument).
void examine_window(core::context const& context, std::string_view name, std::string const& queue,
                    window_strategy const& strategy);

}  // namespace planners
}  // namespace v1
}  // namespace daybook
