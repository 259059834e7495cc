// One tick of a schedule as one child process.
// Thread safety: several threads at once, a tick each.
#pragma once

#include "config/declared_schedule.hpp"
#include "config/options.hpp"
#include "output/journal.hpp"

#include <daybook/tick.hpp>

#include <chrono>
#include <cstddef>
#include <stop_token>

namespace command {

/// What all ticks of a daemon have in common.
struct launch_site {
  database where;
  journal& log;
  std::chrono::milliseconds grace;            ///< for a command, when we stop
  std::chrono::milliseconds grace_when_lost;  ///< when others may start soon
  std::stop_token kill;                       ///< no more grace
  std::size_t output_limit;  ///< bytes of each command's output, logged in a minute
};

/// Returns when the command has succeeded, or when the tick is handed back; its end and the tail of
/// its output are kept with the attempt, its lines are logged. On failure: throws complaint or
/// std::runtime_error, whose text is why the attempt failed.
void launch(declared_schedule const& declared, daybook::tick& tick, launch_site const& site);

}  // namespace command
