// The same work, by the library.
#pragma once

#include "bench/queue/contestant.hpp"

namespace bench {

contestants library_contestants(support::engine const& on);

}  // namespace bench
