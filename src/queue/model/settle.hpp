// The algebra of segments, without a database: what becomes of the ranges of a claim when it ends,
// how a segment is cut around one id, and which neighbours are one.
// Thread safety: values.
#pragma once

#include <daybook/queue.hpp>
#include <daybook/task.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace queues {

/// Due by itself at no time.
inline constexpr std::int64_t never_us = std::numeric_limits<std::int64_t>::max();
/// What people asked for is before all else of its priority, in the order of asking: it is due so
/// long before the instant of asking, which is before 1970.
inline constexpr std::int64_t front_us = std::int64_t{1} << 58;
/// The lanes from this one on are claimed singly.
inline constexpr int priorities = 10;
/// A claim that was taken back is known for so long.
inline constexpr std::int64_t tombstone_us = 86'400'000'000;
/// A row of outcomes covers no more ids, so that those of a task are found among few rows.
inline constexpr std::int64_t widest_outcome = 1000;

/// All ids in [lo, hi), and what they share.
struct segment {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  int lane = 5;
  task_state state = task_state::waiting;
  int attempts = 0;
  int crashes = 0;
  std::int64_t turn_us = 0;
  std::int64_t period_us = 0;  ///< that it was armed with
  std::int64_t due_us = 0;

  [[nodiscard]] std::int64_t size() const noexcept { return hi - lo; }
  bool operator==(segment const&) const = default;
};

/// How an instant is found that only the database's clock can tell. The numbers are in the SQL.
enum class arming : std::uint8_t {
  at = 0,           ///< at segment::due_us
  next_turn = 1,    ///< the first turn, whole periods after this one, that is not over
  from_finish = 2,  ///< a period from now, in grains of due_us
  delay = 3,        ///< due_us from now, in whole seconds
};

/// A segment to be written back.
struct written {
  segment what;
  arming how = arming::at;
  bool operator==(written const&) const = default;
};

/// A row of history.
struct told {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  task_state state{};
  int attempts = 0;
  std::int64_t turn_us = 0;
  std::optional<std::int64_t> finished_us = {};
  std::string remark = {};
  bool operator==(told const&) const = default;
};

/// What a queue's options mean for one task.
struct policy {
  std::int64_t period_us = 0;
  std::int64_t grain_us = 1'000'000;
  daybook::period_anchor period_anchor = period_anchor::from_turn;
  step_mode mode = step_mode::at_least_once;
  bool record_every_outcome = false;
  int attempts = 5;
  std::int64_t backoff_us = 0;
  std::int64_t longest_backoff_us = 0;
  int crash_limit = 3;
  std::int64_t segment = 1000;
  bool in_order = false;
};

/// How one task ended.
struct verdict {
  enum class kind : std::uint8_t { none, success, failure, snooze, cancel, unknown };
  kind what = kind::none;
  std::int64_t delay_us = 0;
  std::optional<std::int64_t> finished_us = {};
  std::string remark = {};
  bool operator==(verdict const&) const = default;
};

/// What becomes of tasks of a claim that nobody finished.
enum class unfinished : std::uint8_t { handed_back, crashed };

/// A task that is not tried again by itself at this turn.
struct last_failure {
  std::int64_t id = 0;
  task_state state{};  ///< failed, dead or unknown
  int attempts = 0;
  int crashes = 0;
  std::string remark = {};
};

struct settled {
  std::vector<written> back;
  std::vector<told> history;
  std::vector<last_failure> failed = {};  ///< in the order of ids
};

/// Before the next attempt after so many failed ones. The jitter, up to a tenth more, depends on
/// the task and its turn alone.
[[nodiscard]] std::int64_t backoff_us(policy const& policy, std::int64_t id, std::int64_t turn_us,
                                      int failed);

/// One task of a claim as settle() sees it.
struct ending {
  std::int64_t id = 0;
  verdict const* how = nullptr;  ///< null: nobody finished it
  bool begun = true;             ///< false: its claim is known not to have begun it
};

/// `ranges` in the order of lo; `living`: their ids that have a member, in order. Ids without one
/// go with their neighbours, unless more than half of a range are such.
[[nodiscard]] settled settle(policy const& policy, std::span<segment const> ranges,
                             std::span<ending const> living, unfinished rest);

using asked = task_request;

/// The task at `now_us` as asked for; empty: that changes nothing. `due_us`: when it is due, should
/// it be done.
[[nodiscard]] std::optional<segment> change(policy const& policy, segment one, asked request,
                                            std::int64_t now_us, std::int64_t due_us);
/// The task with another priority; empty: it has that.
[[nodiscard]] std::optional<segment> with_priority(segment one, int priority);
/// Since when it is due, as people see it.
[[nodiscard]] constexpr std::int64_t shown_us(std::int64_t due_us) noexcept {
  return due_us < 0 ? due_us + front_us : due_us;
}
/// `whole` without `id`, and `one`, which has it alone.
[[nodiscard]] std::vector<segment> carve(segment const& whole, segment const& one);

[[nodiscard]] std::int64_t ids_in(std::span<segment const> segments) noexcept;
/// The same ids in fewer rows: neighbours that share everything are one, up to `widest`.
[[nodiscard]] std::vector<segment> merged(std::span<segment const> in_order, std::int64_t widest);
/// Without the ids that have no member, where these are more than half.
[[nodiscard]] std::vector<segment> trimmed(segment const& segment,
                                           std::span<std::int64_t const> living);
/// Moved from the period that it was armed with to the present one.
[[nodiscard]] segment rearmed(policy const& policy, segment segment, std::int64_t now_us);

}  // namespace queues
}  // namespace v1
}  // namespace daybook
