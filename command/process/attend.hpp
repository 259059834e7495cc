// Stands by one of many children, in a thread of its own: hears of its end, of what it prints and
// of what ends it, without polling.
// Thread safety: the thread that made the child, which has to live as long as it.
#pragma once

#include "output/capture.hpp"
#include "process/child.hpp"
#include "process/child_limits.hpp"

namespace command {

struct attended {
  ended_by why = ended_by::itself;
  child_status status;
};

/// Returns when the child has ended, and with it, where it failed or was ended, what it left in its
/// group. Its output is read to its end.
[[nodiscard]] attended attend(child& job, capture& output, limits const& within);

}  // namespace command
