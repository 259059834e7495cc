// The effects of tasks, and what must be true of them and of the book's queues at every instant.
#pragma once

#include "proof/torture/runs/ledger.hpp"
#include "support/engines.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace torture {

/// What can be wrong with a queue.
enum class queue_flaw : std::size_t {
  uncovered,   ///< a member that neither a segment nor a claim has (Q1)
  duplicate,   ///< an effect of one turn of a task, again (Q2)
  overlap,     ///< ids that two of the segments and claims have (Q4)
  unrecorded,  ///< an effect that neither a ledger nor history knows
  lost,        ///< history or a ledger says done, and there is no effect (Q1)
  in_hand,     ///< at the end: a claim, or a ledger of one that is over (Q3)
  unfinished,  ///< at the end: a task that is not done (Q1)
  order,       ///< before another of its series that was added earlier
  poison,      ///< one that killed more workers than its limit, or is not dead after that (Q5)
};
inline constexpr std::size_t queue_flaw_kinds = 9;
inline constexpr std::array<std::string_view, queue_flaw_kinds> queue_flaw_names{
    "uncovered", "duplicate effects", "overlap", "unrecorded", "lost effects", "in hand",
    "undone",    "out of order",      "poison"};

struct queue_findings {
  std::array<std::int64_t, queue_flaw_kinds> count{};
  std::int64_t effects = 0;        ///< seen, and all well
  std::int64_t outside = 0;        ///< turns done outside at least once
  std::int64_t outside_again = 0;  ///< calls beyond the first: not wrong, after a fault

  queue_findings& operator+=(queue_findings const& other);
  void add(queue_flaw what, std::int64_t how_many = 1) {
    count[static_cast<std::size_t>(what)] += how_many;
  }
  [[nodiscard]] std::int64_t of(queue_flaw what) const {
    return count[static_cast<std::size_t>(what)];
  }
  [[nodiscard]] std::int64_t all() const;
  [[nodiscard]] std::string text() const;
};

/// Nothing in it is unique: a duplicate must be counted, not refused.
void make_task_ledger(support::fresh_database const& in, std::string_view dialect);

/// Of one queue. One statement, so one snapshot, and good at any instant. `outside` is the file of
/// effects elsewhere: read after the snapshot, for an effect is written there before its success.
/// `whole_history`: none of it was forgotten on purpose.
queue_findings check_queue(support::fresh_database const& in, std::string_view dialect,
                           std::string const& queue, std::string const& outside, moment when,
                           bool whole_history = true);

}  // namespace torture
