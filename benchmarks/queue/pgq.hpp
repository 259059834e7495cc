// PgQ, of the Debian package postgresql-15-pgq3: events in batches, for one consumer. No key, no
// due time, no result, no retry by itself: what a queue costs that does almost nothing.
#pragma once

#include "benchmarks/queue/contestant.hpp"

namespace bench {

std::unique_ptr<contestant> pgq_contestant(support::engine const& on);

}  // namespace bench
