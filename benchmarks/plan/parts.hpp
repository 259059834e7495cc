// The parts of ./bench plan; each prints its table.
// Thread safety: one thread at a time; each makes threads of its own. On failure, all:
// std::runtime_error, as where a result is not what it must be.
#pragma once

#include "support/engines.hpp"

#include <string>
#include <vector>

namespace bench {

struct plan_settings {
  int rounds = 3;
  int page = 1000;
  std::vector<long> rows{1'000'000, 5'000'000};  ///< of the table that is swept
  std::vector<int> workers{1, 2};
  double offset_seconds = 5;  ///< so long the paging by offset goes on
  long known = 1'000'000;     ///< keys that were launched before the anti-join
  long fresh = 1000;          ///< that were not
  long events = 100'000;      ///< in a call of 1000, and out
  long singles = 5000;        ///< in a transaction each
  int producers = 8;
  std::string peers;  ///< the folder; empty: none
};

/// All rows of a table in pages: a loop by hand, and the library.
void sweep_part(support::engine const& on, plan_settings const& with);
/// Few new rows of many: one statement by hand, and a pass of the library.
void query_part(support::engine const& on, plan_settings const& with);
/// Events in, and out as tasks: a loop by hand, the library, the peers.
void inbox_part(support::engine const& on, plan_settings const& with);

}  // namespace bench
