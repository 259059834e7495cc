// A task: one key of a queue, at one of its turns; how it stands, and how it ended.
// Thread safety: values.
//
//   queue.add(daybook::key{"customer/42"}, {.payload = R"({"full": true})"});
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/time.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {

/// Where a task stands. The numbers are in the tables and never change.
enum class task_state : std::int8_t {
  waiting = 0,      ///< due now or later, and not done at this turn yet
  running = 1,      ///< in a claim
  succeeded = 2,    ///< at its last turn; waits for the next turn if the queue has a period
  failed = 3,       ///< at its last turn, after all its attempts; waits for the next turn
  dead = 4,         ///< waits for a person: its attempts are over, or it killed its workers
  unknown = 5,      ///< at most once, and nobody knows its end: waits for a person
  quarantined = 6,  ///< "suspect": was begun when its worker died: due, and claimed alone
  discarded = 7,    ///< given up by a person, or cancelled by its handler
};

/// Which tasks of a claim count as begun. When its worker dies, these are quarantined, or unknown
/// in a queue of step_mode::at_most_once; the others go back as they were.
enum class beginning : std::uint8_t {
  with_claim,  ///< all, from the start
  announced,   ///< those for which begin() was called
};

/// "waiting", "running", ...
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(task_state state) noexcept;

/// One task of a claim.
struct task {
  std::int64_t id = 0;  ///< of its member: dense, never used again
  std::string key = {};
  std::optional<std::string> payload = {};
  timestamp turn{};  ///< the instant the task is for: the same in all attempts, new each period
  int attempt = 1;   ///< at this turn, counted from 1
  int crashes = 0;   ///< how often a worker died with it in hand
  int priority = 5;
  /// If the queue has a rate: the earliest start, counted from the claim.
  std::chrono::microseconds start_delay{0};
};

/// How a worker's attempt at a task ended. `remark` is kept with it, cut at 2000 bytes.
class DAYBOOK_EXPORT result {
 public:
  enum class kind : std::uint8_t { success, failure, snooze, cancel, unknown };

  [[nodiscard]] static result success(std::string remark = {});
  /// Tried again after the queue's back-off, until its attempts are over.
  [[nodiscard]] static result failure(std::string remark);
  /// Due again after this time, at the same turn; does not count as an attempt. 1 ms to 10 years,
  /// else daybook::error (error_code::bad_argument).
  [[nodiscard]] static result snooze(std::chrono::milliseconds length, std::string remark = {});
  /// Not to be tried again at this turn.
  [[nodiscard]] static result cancel(std::string remark = {});
  /// Nobody knows whether it happened: task_state::unknown, until a person says.
  [[nodiscard]] static result unknown(std::string remark = {});

  [[nodiscard]] kind what() const noexcept { return kind_; }
  [[nodiscard]] std::chrono::microseconds length() const noexcept { return length_; }
  [[nodiscard]] std::string const& remark() const noexcept { return remark_; }

 private:
  result(kind kind, std::string remark, std::chrono::microseconds length = {});

  kind kind_;
  std::chrono::microseconds length_;
  std::string remark_;
};

/// A change that a person may ask for: see queue. The numbers are in the tables and never change.
enum class task_request : std::uint8_t {
  run_now = 1,
  retry = 2,
  discard = 3,
  was_done = 4,      ///< a task of unknown outcome happened
  was_not_done = 5,  ///< it did not happen, and is tried again
};

/// A task as it stands in the book.
struct task_info {
  std::int64_t id = 0;
  std::string key = {};
  std::optional<std::string> payload = {};
  task_state state{};
  int priority = 5;
  int attempts = 0;  ///< failed ones at this turn
  int crashes = 0;
  timestamp turn{};
  std::optional<timestamp> due;  ///< empty: never by itself
  std::string claim;             ///< in hand: the batch
  std::string holder;            ///< in hand: who has it
  /// Of its newest outcome, or of the attempt in hand.
  std::optional<timestamp> started;
  std::optional<timestamp> finished;
  std::string remark;
};

/// How a task once ended. Successes without a remark share rows, which say when the first of them
/// began and the last ended, unless queue_options::every_outcome is set.
struct task_outcome {
  task_state state{};
  int attempts = 0;  ///< at its turn, this one included
  timestamp turn{};
  std::optional<timestamp> started;
  std::optional<timestamp> finished;
  std::string claim;
  std::string remark;
};

}  // namespace v1
}  // namespace daybook
