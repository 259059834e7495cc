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
enum class period_anchor : std::uint8_t {
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
enum class new_member_policy : std::uint8_t {
  next_round = 0,
  now = 1,  ///< at once, whether a round is open or not
};

struct queue_options {
  /// Does each key again after this time; 0: each once. A second to 100 years.
  std::chrono::microseconds period{0};
  /// Due times are rounded up to this, so that neighbours stay together: at least a second, at most
  /// the period. 0: a sixteenth of the period, or a second.
  std::chrono::microseconds grain{0};
  daybook::period_anchor period_anchor = period_anchor::from_turn;
  /// After a worker died, its begun tasks are tried again (tx, at_least_once), or are unknown
  /// (at_most_once).
  step_mode mode = step_mode::at_least_once;
  /// Keeps a row of history for every task, not only for those that failed or have a remark.
  bool record_every_outcome = false;
  int attempts = 5;  ///< failures at one turn until it is given up; 1 to 1000
  /// The pause after the first failure; doubled after each further one, with a jitter of a tenth.
  std::chrono::milliseconds backoff = std::chrono::seconds{30};
  std::chrono::milliseconds longest_backoff = std::chrono::hours{1};
  int crash_limit = 3;    ///< a task is dead after this many workers died with it; 1 to 100
  int running_limit = 0;  ///< the most tasks in hand at once, over all nodes; 0: no limit
  std::optional<daybook::rate> rate = {};
  /// How many tasks may begin at once after a pause; the rest follow at the rate. 1 to 1,000,000;
  /// 1: an unused slot is lost. Without a rate it has no effect.
  int burst = 1;
  /// Claims take only tasks that were due when the round was opened.
  bool rounds = false;
  daybook::new_member_policy new_member_policy = new_member_policy::next_round;
  std::chrono::hours retention{24 * 30};  ///< of outcomes: an hour to 100 years
  /// Members that succeeded or were discarded longer ago are removed by upkeep(): at least a
  /// minute, at most the retention; 0: never. Not in a queue with a period.
  std::chrono::seconds done_retention{0};
  /// Tasks whose keys agree up to their last '/' are a series, and are begun one after the other in
  /// the order in which they were added: each when the one before has succeeded, or was discarded
  /// or removed. A task that failed, snoozes, is dead, or has an unknown outcome holds up those
  /// behind it. It is chosen when the queue is made; not with a period, rounds, priorities or a
  /// synced table. Each task then has a row of its own.
  bool in_order = false;
  /// How many neighbours share a row at most, 1 to 1000. Best as large as one claim.
  int segment = 1000;
  friend bool operator==(queue_options const&, queue_options const&) = default;
};

struct task_options {
  std::optional<std::string> payload = {};  ///< up to 1 MiB of UTF-8
  std::optional<timestamp> at = {};         ///< not before; empty: at once. Up to the year 9999
  int priority = 5;                         ///< 0 (first) to 9
};

/// One key of a bulk import.
struct entry {
  daybook::key key;
  std::optional<std::string> payload = {};
};

struct import_report {
  std::int64_t added = 0;
  std::int64_t present = 0;  ///< the key was there already, or came twice
};

struct claim_options {
  int limit = 1000;          ///< 1 to 10000 tasks
  bool quarantined = false;  ///< claims one quarantined task instead
  daybook::beginning beginning = beginning::with_claim;
};

}  // namespace v1
}  // namespace daybook
