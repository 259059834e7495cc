// How a queue is made, and how tasks come into it and are claimed.
// Thread safety: values.
#pragma once

#include <daybook/names.hpp>
#include <daybook/outcome.hpp>
#include <daybook/task.hpp>
#include <daybook/time.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace daybook {
inline namespace v1 {

/// From where the next turn is counted.
enum class cadence : std::uint8_t {
  from_turn = 0,    ///< a period after this turn, however late it was done; keys stay in step
  from_finish = 1,  ///< a period after it was done
};

/// How many tasks may start in which time, over all nodes, in the long run: a slot for each, evenly
/// spaced. A task that finds no thread in its slot begins later, and then several may begin at
/// once.
struct rate {
  std::int64_t count = 1;
  std::chrono::microseconds per = std::chrono::seconds{1};
  friend bool operator==(rate const&, rate const&) = default;
};

/// When a new member of a queue of rounds is due.
enum class on_new : std::uint8_t {
  next_round = 0,
  now = 1,  ///< at once, whether a round is open or not
};

struct queue_options {
  /// Each key again so often; 0: each once. At least a second, at most 100 years.
  std::chrono::microseconds period{0};
  /// Due times are rounded up to this, so that neighbours stay together: at least a second, at most
  /// the period. 0: a sixteenth of the period, or a second.
  std::chrono::microseconds grain{0};
  daybook::cadence cadence = cadence::from_turn;
  /// What a lost worker means: tx and at_least_once are tried again, at_most_once is unknown.
  step_mode mode = step_mode::at_least_once;
  /// A row of history for every task, not only for those that failed or have a remark.
  bool every_outcome = false;
  int attempts = 5;  ///< at one turn; 1 to 1000
  /// After the first failure; doubled after each further one, with a jitter of a tenth.
  std::chrono::milliseconds backoff = std::chrono::seconds{30};
  std::chrono::milliseconds longest_backoff = std::chrono::hours{1};
  int crash_limit = 3;    ///< so many dead workers make a task dead; 1 to 100
  int running_limit = 0;  ///< so many in hand at once, over all nodes; 0: no limit
  std::optional<daybook::rate> rate = {};
  /// So many tasks may begin at once after a time without any, and the rest at the rate: the bucket
  /// holds so many slots. 1 to 1,000,000; 1: an unused slot is lost. Nothing without a rate.
  int burst = 1;
  /// Only what was due when a round was opened is claimed.
  bool rounds = false;
  daybook::on_new on_new = on_new::next_round;
  std::chrono::hours retention{24 * 30};  ///< of outcomes: an hour to 100 years
  /// Members that succeeded or were discarded longer ago are removed by upkeep(): at least a
  /// minute, at most the retention; 0: never. Not in a queue with a period.
  std::chrono::seconds forget_done{0};
  /// Tasks whose keys agree up to their last '/' are a series, and are begun one after the other in
  /// the order in which they were added: each when the one before has succeeded, or was discarded
  /// or removed. One that failed, snoozes, is dead, or whose outcome is unknown, holds up those
  /// behind it. Chosen when the queue is made; not with a period, rounds, priorities or a table
  /// that is watched. Each task has a row of its own then.
  bool in_order = false;
  /// So many neighbours share a row at most, 1 to 1000. Best: what one claim takes.
  int segment = 1000;
  friend bool operator==(queue_options const&, queue_options const&) = default;
};

struct task_options {
  std::optional<std::string> payload = {};  ///< up to 1 MiB of UTF-8
  std::optional<timestamp> at = {};         ///< not before; empty: at once. Up to the year 9999
  int priority = 5;                         ///< 0 (first) to 9
};

/// One of a bulk import.
struct entry {
  daybook::key key;
  std::optional<std::string> payload = {};
};

struct imported {
  std::int64_t added = 0;
  std::int64_t present = 0;  ///< whose key was there already, or twice among them
};

struct claim_options {
  int limit = 1000;       ///< 1 to 10000 tasks
  bool suspects = false;  ///< one suspect instead
  daybook::beginning beginning = beginning::with_claim;
};

}  // namespace v1
}  // namespace daybook
