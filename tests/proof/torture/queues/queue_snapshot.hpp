// Tasks done while somebody keeps a snapshot open: no row that they leave dead can be swept away.
#pragma once

#include "support/engines.hpp"

namespace torture {

/// Imports so many, in segments of so many, and does them in claims of so many, within one snapshot
/// of another's; says how fast, and how long claims take, in fifths. True: each was done once, and,
/// of 100 000 or more, the last fifth was at least 0.9 times as fast as the first.
bool under_a_snapshot(support::engine const& on, int tasks, int segment, int claim);

}  // namespace torture
