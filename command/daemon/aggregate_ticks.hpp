// What a daemon does at each tick of an [[aggregate]]: one pass over what is free.
// Thread safety: several threads at once, a tick each. Lifetime: the book of the aggregate must
// outlive it.
#pragma once

#include "config/declared_aggregate.hpp"
#include "output/journal.hpp"

#include <daybook/aggregation.hpp>
#include <daybook/tick.hpp>

namespace command {

/// Returns when all that was free is taken, but for groups that could not be: those are warned of,
/// and the tick succeeds, for nobody else's rows wait for them. What was done is kept with the
/// attempt. Told to stop, it hands the tick back after the chunk in hand. On failure: throws
/// daybook::error; what was taken stays so, and the next attempt goes on.
void gather(declared_aggregate const& declared, daybook::aggregation aggregation,
            daybook::tick& tick, journal& log);

}  // namespace command
