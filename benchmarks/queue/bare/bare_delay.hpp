// How soon a task begins on PostgreSQL, with LISTEN and NOTIFY and nothing else.
#pragma once

#include "benchmarks/queue/contestant.hpp"

#include <string>

namespace bench {

/// The statements are those of bare_postgres.cpp; the queue is empty at first, and at the end.
/// On failure: std::runtime_error.
delay bare_start_delay(std::string const& url, std::string const& enqueue, std::string const& claim,
                       std::string const& complete, int samples, double gap_ms);

}  // namespace bench
