// Stands by a child until it has ended: hands signals on to its group, ends it (TERM, a grace,
// KILL) when its time is over or the run is lost, and follows Ctrl-Z and `fg` of a shell.
// Thread safety: the thread that made the child.
//
//   auto end = supervise(job, caught, {.timeout = 2h, .lost = run.stop()});
#pragma once

#include "process/child.hpp"
#include "process/child_limits.hpp"
#include "process/signals.hpp"

namespace command {

/// Whom a Ctrl-C must still reach, for a script around us to end as it would without us.
enum class interrupt { none, ourselves, our_group };

struct child_end {
  ended_by why = ended_by::itself;
  child_status status;
  interrupt pass_on = interrupt::none;
  bool asked_to_end = false;  ///< a signal that asks for it was handed on
};

/// When the child fails, or is ended, what it left in its group is ended too; what a successful
/// child has left running stays.
[[nodiscard]] child_end supervise(child& job, signals& caught, limits const& within);

/// Call it when all is closed and no `signals` exists. Returns unless SIGINT ended us.
void pass_interrupt_on(interrupt interrupt) noexcept;

}  // namespace command
