// What must be true of planners, their events and their tasks when nothing is left to do.
#pragma once

#include "proof/torture/planners/plans.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torture {

/// What can be wrong with planners.
enum class plan_flaw : std::size_t {
  missed,      ///< what is there and should have been done, and was not
  doubled,     ///< done twice
  of_none,     ///< done, and there is nothing that it is of
  reason,      ///< an event that ended otherwise than it should have, or says why not
  barrier,     ///< the end of a sweep: none, or two
  unfinished,  ///< a task or an event in hand, or waiting
};
inline constexpr std::size_t plan_flaw_kinds = 6;
inline constexpr std::array<std::string_view, plan_flaw_kinds> plan_flaw_names{
    "missed", "doubled", "of none", "reason", "barrier", "unfinished"};

struct plan_findings {
  std::array<std::int64_t, plan_flaw_kinds> count{};
  std::string first = {};  ///< of each kind one
  // Seen, and all well.
  std::int64_t orders = 0;
  std::int64_t events = 0;  ///< that became tasks
  std::int64_t refused = 0;
  std::int64_t dead = 0;
  std::int64_t periods = 0;
  std::int64_t sweeps = 0;
  std::int64_t rows = 0;  ///< looked at by them
  std::int64_t late = 0;  ///< of them, found by comparisons

  plan_findings& operator+=(plan_findings const& other);
  void add(plan_flaw what, std::string const& which);
  [[nodiscard]] std::int64_t all() const;
};

/// Of one trial, these planners. On failure: throws daybook::error.
plan_findings check_plans(daybook::book& in, std::string const& trial,
                          std::vector<plan> const& which);

}  // namespace torture
