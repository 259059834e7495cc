// The effect ledger, and what must be true of it and of the book at every instant.
#pragma once

#include "support/engines.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace torture {

/// What can be wrong. The first six are about effects (C1, C2), then about the run's row and its
/// history (C4, C6); the last about what was done outside (C3), which abroad.hpp looks at.
enum class flaw : std::size_t {
  duplicate,       ///< an effect of one step of one run, again
  stale_accepted,  ///< an effect after one of a later epoch
  unrecorded,      ///< an effect without its step's record under the same epoch
  lost_effect,     ///< a step's record without its effect
  incomplete,      ///< a run that succeeded with steps missing
  twice_finished,  ///< two attempts at one run that succeeded
  history,         ///< attempts that are not one for each that has ended, or do not say why
  step_count,      ///< a run's count of steps that is not the number of its records
  out_of_order,    ///< steps not numbered from 1, or done by an attempt after a later one
  new_run,         ///< a new run that does not follow a success
  carried,         ///< a run that succeeded without what its attempts carry, or with a dead one's
  open_intent,     ///< an intent of a run that succeeded, or of a step that is recorded
  unfinished,      ///< at the end: a run that is still held, or never succeeded
  outside_twice,   ///< an at-most-once step that was accepted outside again
  outside_forgotten,  ///< one that was accepted, and the book has neither intent nor record
  outside_key,        ///< a step with several idempotency keys, or several steps with one
  outside_lost,       ///< at the end: a step's record, and nothing was done outside
};
inline constexpr std::size_t flaw_kinds = 17;
/// Those that the database alone can tell.
inline constexpr std::size_t ledger_kinds = 13;
inline constexpr std::array<std::string_view, flaw_kinds> flaw_names{
    "duplicates",     "stale accepted", "unrecorded", "lost effects",  "incomplete",
    "finished twice", "history",        "step count", "out of order",  "new run",
    "carried",        "open intent",    "unfinished", "outside twice", "outside forgotten",
    "outside key",    "outside lost"};

struct findings {
  std::array<std::int64_t, flaw_kinds> count{};

  findings& operator+=(findings const& other);
  [[nodiscard]] std::int64_t of(flaw kind) const { return count[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] std::int64_t all() const;
  [[nodiscard]] std::string text() const;
};

enum class moment { amid, at_the_end };

/// Effects are numbered in the order of their inserts. An effect that is accepted was inserted
/// before its run's row was given to the next epoch, so along the numbers epochs never fall.
/// Nothing is unique but the number: a duplicate must be counted, not refused.
void make_ledger(support::fresh_database const& in, std::string_view dialect);

/// One statement, so one snapshot, and good at any instant. Keys that are LIKE `keys`.
findings check(support::fresh_database const& in, std::string_view dialect,
               std::string const& prefix, std::string const& keys, moment when);

}  // namespace torture
