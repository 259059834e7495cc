// As the first process of a container, or as a subreaper, we are given the orphans of all that our
// commands start, which stay zombies until somebody reaps them; and signals that the first process
// does not catch are lost. So the work is done by a child, and we reap, hand signals on, and end as
// it does.
// Thread safety: once, by main(), after remember_inherited() and before there is any thread.
#pragma once

namespace command {

/// Returns in the process that does the work: a child of ours, which dies with us, or we ourselves,
/// where none is needed or there is no room for one.
void work_beneath_init() noexcept;

/// Where the service manager is told through us, for it may listen to its first process only; else
/// -1.
[[nodiscard]] int way_to_init() noexcept;

}  // namespace command
