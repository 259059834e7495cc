// Whoever gathers bricks in ./bench aggregate: the story's code, row by row; the statements that do
// a chunk at once, bare; the library.
// Thread safety: one thread at a time; each makes threads of its own.
#pragma once

#include "benchmarks/aggregate/field.hpp"

namespace bench {

struct order {
  int aggregators = 1;
  int chunk = 10'000;
  long rows = 0;  ///< how many there are to gather
};

// Of bricks 1 to `how.rows`, in a field that is just filled.

/// For each brick the two updates of the story, so many bricks in one transaction. Its pay is made
/// beforehand, and not timed.
amount row_by_row(field& in, order const& how, int in_a_transaction);
/// For each chunk of ids: the pay that is missing, bricks, sums and a row of history.
amount bare(field& in, order const& how);
amount library(field& in, order const& how);

struct upkeep {
  double revert_bare_ms = 0;
  double revert_ms = 0;  ///< one parent, in the middle of several
  double verify_bare_s = 0;
  double verify_s = 0;  ///< all of them
};
/// In a field that `library` has gathered.
upkeep undo_and_verify(field& in, int reverts);

}  // namespace bench
