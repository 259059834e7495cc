// The effects of ticks, and what must be true of them and of the book's ticks when all is over.
#pragma once

#include "support/engines.hpp"

#include <daybook/schedule.hpp>
#include <daybook/time.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torture {

/// What can be wrong with a schedule.
enum class schedule_flaw : std::size_t {
  duplicate,  ///< an effect of a tick, again (T1)
  lost,       ///< done, and there is no effect
  window,     ///< an effect whose window is not that of its tick
  tiling,     ///< the window of a launched tick does not begin where the one before ends (T1)
  missed,     ///< an instant of the expression that is neither launched nor skipped (T2)
  twice,      ///< ... that is launched and skipped, or skipped twice (T2)
  stray,  ///< a tick at no instant of the expression; skipped ones without reason, or miscounted
  early,  ///< launched before its instant, by the database's clock
  miscounted,  ///< failures that are not those of its run's attempts
  unfinished,  ///< at the end, or when it was forgotten: due, or running
  forgotten,   ///< one of the newest, which are kept
  stuck,       ///< no tick was launched after the database was there again (T5)
};
inline constexpr std::size_t schedule_flaw_kinds = 12;
inline constexpr std::array<std::string_view, schedule_flaw_kinds> schedule_flaw_names{
    "duplicate effects",
    "lost effects",
    "wrong windows",
    "tiling",
    "missed",
    "twice",
    "stray",
    "early",
    "miscounted",
    "unfinished",
    "forgotten",
    "stuck"};

struct schedule_findings {
  std::array<std::int64_t, schedule_flaw_kinds> count{};
  std::int64_t ticks = 0;  ///< launched
  std::int64_t effects = 0;
  std::int64_t skipped = 0;  ///< instants
  std::int64_t failed = 0;
  std::int64_t forgotten = 0;
  std::int64_t taken_over = 0;
  std::vector<std::int64_t> late_us;  ///< from the instant to its launch
  std::vector<std::string> said;      ///< of each flaw: where

  schedule_findings& operator+=(schedule_findings const& other);
  void add(schedule_flaw what, std::string const& where);
  [[nodiscard]] std::int64_t of(schedule_flaw what) const {
    return count[static_cast<std::size_t>(what)];
  }
  [[nodiscard]] std::int64_t all() const;
  [[nodiscard]] std::string text() const;
};

/// A schedule as it was made, whatever became of it.
struct expectation {
  std::string name;
  std::string cron;
  std::string zone = "UTC";
  std::optional<daybook::timestamp> since = {};  ///< empty: when it was made
  int keep = daybook::schedule_options{}.keep;
};

/// Nothing in it is unique: a duplicate must be counted, not refused. Beside the effects it
/// remembers the ticks that the book forgets: nothing that became of a tick is hidden from the
/// check.
void make_tick_ledger(support::fresh_database const& in, std::string_view dialect);

/// Of one schedule that nobody changes meanwhile, from its beginning to what is decided.
schedule_findings check_schedule(support::fresh_database const& in, std::string_view dialect,
                                 expectation const& of);

}  // namespace torture
