// Whoever takes events in and makes tasks of them in ./bench plan, beside the peers.
// Thread safety: as contestants.
#pragma once

#include "benchmarks/queue/contestant.hpp"

namespace bench {

/// The loop by hand, and the library.
contestants inboxes(support::engine const& on);

}  // namespace bench
