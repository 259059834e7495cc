// The same work, by the library.
#pragma once

#include "benchmarks/queue/contestant.hpp"

#include <string>

namespace bench {

/// `daybook` is the command, whose daemon takes part; empty: it does not.
contestants library_contestants(support::engine const& on, std::string const& daybook);

}  // namespace bench
