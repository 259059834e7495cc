// One task of a queue as one child process.
// Thread safety: several threads at once, a task each.
#pragma once

#include "config/declared_queue.hpp"
#include "daemon/children/launch.hpp"

#include <daybook/job.hpp>

namespace command {

/// Returns when the command has ended. Exit code 0 is success, and the last line of its stdout is
/// kept with it; docs/reference/config.md has the others.
[[nodiscard]] daybook::result do_task(declared_queue const& declared, daybook::job& job,
                                      launch_site const& site);

}  // namespace command
