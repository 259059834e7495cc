// A queue worked off by `daybook daemon --drain`, with a child for each batch that answers in JSON
// lines: this program again. Thread safety: one thread at a time.
#pragma once

#include "benchmarks/queue/contestant.hpp"

#include <string>

namespace bench {

/// `daybook` is the command. From before it starts until it has ended.
/// On failure: std::runtime_error.
amount drain_by_daemon(std::string const& daybook, std::string const& database_url,
                       order const& how);

/// As a child of that: a result for each task on stdin. Its exit code.
int answer_tasks();

}  // namespace bench
