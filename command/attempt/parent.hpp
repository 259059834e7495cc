// The end of the process that started us is ours, too: a link of the chain from `daybook run` to
// what a script in it has started.
// A parent-death signal that kills is not enough for it: Linux sends it when the *thread* ends that
// started us, and a pool's threads end while their process goes on.
// Thread safety: once, by the main thread, which must live as long as we.
#pragma once

namespace command {

/// Returns at once. Where we were started with a parent-death signal, that stays: who sets one for
/// us, as `daybook run` does, knows of its own threads.
void end_with_parent() noexcept;

}  // namespace command
