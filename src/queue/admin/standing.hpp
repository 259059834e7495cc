// Whether queues are worked, by a few look-ups in an index for each. Thread-safe.
#pragma once

#include "core/tx/context.hpp"

#include <daybook/task.hpp>
#include <daybook/time.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace queues {

struct standing {
  std::int64_t id = 0;
  std::string name;
  bool paused = false;
  std::chrono::microseconds grain{};
  std::optional<timestamp> due;  ///< since when the oldest task waits that may start
  std::int64_t claims = 0;       ///< in hand of processes that live
  std::int64_t abandoned = 0;    ///< tasks in claims of others
  timestamp now{};
};

/// Of one queue, by its id; 0: of all, by name. On failure: throws daybook::error.
[[nodiscard]] std::vector<standing> standings(core::context const& book, std::int64_t queue = 0);

/// Tasks of a queue that wait for a person.
struct stuck {
  std::string queue;
  task_state state{};  ///< dead or unknown
  std::int64_t tasks = 0;
};

/// Of all queues. Reads every segment where no index tells which these are.
[[nodiscard]] std::vector<stuck> stuck_tasks(core::context const& book);

/// Tasks of all queues, as people first look at them.
struct task_totals {
  std::int64_t queues = 0;
  std::int64_t due = 0;
  bool capped = false;  ///< of a queue, more segments are due than were read
  std::int64_t running = 0;
  std::int64_t dead = 0;
  std::int64_t unknown = 0;
};

/// `segments`: so many of each queue are read at most for those that are due. On failure: throws
/// daybook::error.
[[nodiscard]] task_totals totals(core::context const& book, std::int64_t segments);

}  // namespace queues
}  // namespace v1
}  // namespace daybook
