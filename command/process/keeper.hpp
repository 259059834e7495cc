// The process between us and a command: its parent, and of whatever loses its own parent beneath it
// (a "subreaper"). So nothing that the command has started is lost from sight, in whatever process
// group or session it is, and all of it can be ended, also when we are killed with SIGKILL.
// It is a child of ours that never executes anything; we speak to it through a socket.
// Thread safety: one thread for each keeper.
#pragma once

#include <sys/types.h>

namespace command {

/// What it tells, each as one message; SIGCHLD is sent to us after each.
struct kept_news {
  enum class what : int {
    started,       ///< number: the command's process
    not_started,   ///< number: why there is none; the keeper ends
    stopped,       ///< Ctrl-Z
    exited,        ///< number: the exit status. The process is a zombie until it is told `reap`
    signalled,     ///< number: the signal; the same
    nothing_left,  ///< after that: nothing that it has started lives
  };
  what kind{};
  int number = 0;
};

/// What it is told. The end of our end of the socket is the last order: kill.
struct keeper_order {
  enum class what : int {
    reap,    ///< its end was heard of: from now on its number may be another's
    signal,  ///< number: to its process group, unless nobody of it is left
    end,     ///< TERM also to what is left outside of its group, once to each, as it is orphaned
    kill,    ///< KILL to everything, until nothing is left
    leave,   ///< let all that is left live, and end
  };
  what kind{};
  int number = 0;
};

/// In a process of its own, all signals blocked, just forked: calls only what a signal handler may.
/// `start` becomes the command, in a child of that process.
[[noreturn]] void keep(int socket, void (*start)(void const*, pid_t keeper),
                       void const* with) noexcept;

}  // namespace command
