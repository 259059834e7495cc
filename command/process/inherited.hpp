// What this program was started with: signal dispositions, signal mask, open files. Libraries
// change the first two (libmariadb ignores SIGPIPE) and open files of their own; a child must get
// what we got.
// Thread safety: remember_inherited() once, first thing in main(); then anybody may read.
#pragma once

#include <array>
#include <csignal>
#include <vector>

namespace command {

struct inherited {
  std::array<struct sigaction, NSIG> actions;
  sigset_t mask;
  std::vector<int> files;  ///< in ascending order
};

void remember_inherited();
[[nodiscard]] inherited const& what_was_inherited() noexcept;
/// Whether the file was open at the start.
[[nodiscard]] bool was_inherited(int file) noexcept;

/// In a child, between fork and exec, and before its files are put in their places: what was opened
/// since the start is closed by exec, so that no database socket is in a child. Not done by the
/// parent, whose other threads open files meanwhile. Calls only what a signal handler may.
void close_own_files_at_exec() noexcept;
/// In a child, between fork and exec. Calls only what a signal handler may.
void restore_signals_in_child() noexcept;

}  // namespace command
