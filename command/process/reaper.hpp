// The process between us and a command (a "subreaper"): the parent of the command, and of every
// descendant whose own parent ends. It sees all descendants in any process group or session, and
// ends them even when we are killed with SIGKILL. It is a child of ours that executes no program;
// we speak to it through a socket. Thread safety: one thread for each reaper.
#pragma once

#include <sys/types.h>

namespace command {

/// A message from the reaper; it sends us SIGCHLD after each.
struct reaper_report {
  enum class what : int {
    started,       ///< number: the command's process
    not_started,   ///< number: why there is none; the reaper ends
    stopped,       ///< Ctrl-Z
    exited,        ///< number: the exit status. The process is a zombie until it is told `reap`
    signalled,     ///< number: the signal; the same
    nothing_left,  ///< after that: no descendant lives
  };
  what kind{};
  int number = 0;
};

/// A message to the reaper. Closing our end of the socket means `kill`.
struct reaper_order {
  enum class what : int {
    reap,    ///< its end is known: the system may give its number to another process
    signal,  ///< number: sent to its process group, unless the group is empty
    end,     ///< TERM also to orphans outside its group, once to each
    kill,    ///< KILL to all descendants, until none is left
    leave,   ///< let the descendants live, and end
  };
  what kind{};
  int number = 0;
};

/// In a process of its own, all signals blocked, just forked: calls only what a signal handler may.
/// `start` becomes the command, in a child of that process.
[[noreturn]] void keep(int socket, void (*start)(void const*, pid_t reaper),
                       void const* context) noexcept;

}  // namespace command
