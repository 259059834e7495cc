// A queue as it stands in its row, and what a claim would find in it.
// Thread safety: values.
#pragma once

#include "queue/model/settle.hpp"

#include <daybook/queue.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace daybook {
inline namespace v1 {
namespace queues {

/// A queue's row.
struct row {
  std::int64_t id = 0;
  std::int64_t version = 0;
  queue_options options;
  policy by;
  bool paused = false;
  std::optional<std::int64_t> round_us;
  /// Those who claim take turns.
  [[nodiscard]] bool in_turns() const noexcept {
    return options.running_limit > 0 || options.rate.has_value() || options.in_order;
  }
};

/// What a claim would find now, or later.
struct outlook {
  bool something = false;  ///< what people asked for, claims of the dead, or orphans
  std::optional<std::chrono::microseconds> due_in;  ///< until the next task is due; none: unknown
  [[nodiscard]] bool now() const noexcept { return something || (due_in && due_in->count() <= 0); }
};

}  // namespace queues
}  // namespace v1
}  // namespace daybook
