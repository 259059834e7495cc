// The effect ledger, and what must be true of it and of the book at every instant.
#pragma once

#include "support/engines.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace torture {

/// What can be wrong. The first six are about effects (C1, C2), the others about the run's row
/// and its history.
enum class flaw : std::size_t {
  duplicate,       ///< an effect of one step of one run, again
  stale_accepted,  ///< an effect after one of a later epoch
  unrecorded,      ///< an effect without its step's record under the same epoch
  lost_effect,     ///< a step's record without its effect
  incomplete,      ///< a run that succeeded with steps missing
  twice_finished,  ///< two attempts at one run that succeeded
  history,         ///< attempts that are not one for each that has ended
  step_count,      ///< a run's count of steps that is not the number of its records
  unfinished,      ///< at the end: a run that is still held, or never succeeded
};
inline constexpr std::size_t flaw_kinds = 9;
inline constexpr std::array<std::string_view, flaw_kinds> flaw_names{
    "duplicates",     "stale accepted", "unrecorded", "lost effects", "incomplete",
    "finished twice", "history",        "step count", "unfinished"};

struct findings {
  std::array<std::int64_t, flaw_kinds> count{};

  findings& operator+=(findings const& other);
  /// What nobody but one who no longer held the run can have written.
  [[nodiscard]] std::int64_t by_a_stale_holder() const;
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
