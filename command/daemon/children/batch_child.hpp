// Many tasks of a queue in one child process: they are its stdin, a JSON object on each line; its
// answers are its stdout.
// Thread safety: several threads at once, a batch each.
//
//   {"key": "product/42", "payload": null, "attempt": 1, "turn": "2026-11-21T00:00:00Z",
//    "idempotency_key": "..."}
#pragma once

#include "config/declared_queue.hpp"
#include "daemon/children/launch.hpp"

#include <daybook/job.hpp>

namespace command {

/// Returns when the command has ended, and each task has a result or is handed back.
void do_batch(declared_queue const& declared, daybook::job_batch& batch, launch_site const& site);

}  // namespace command
