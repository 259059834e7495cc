// A command that runs as our child, without a shell, in a process group of its own. Nothing of
// the group outlives us: the child has a parent-death signal, and a keeper (a process that only
// waits for our end) kills the rest of the group, also when we are killed with SIGKILL.
// Thread safety: one thread, and the one that made it: Linux sends the parent-death signal when
// that thread ends. Needs remember_inherited().
//
//   child job{{.words = {"make", "all"}, .environment = {{"LANG", "C"}}}};
//   while (!job.poll()) wait();
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace command {

struct program {
  std::vector<std::string> words = {};  ///< the first is looked for in PATH unless it has a '/'
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< beside and over ours
  int input = -1;      ///< its stdin; -1: ours, or nothing where it is alone
  int output = -1;     ///< its stdout; -1: ours
  int errors = -1;     ///< its stderr
  bool alone = false;  ///< one of several at a time: nothing to read, and never the terminal
};

/// How a child ended.
struct child_status {
  bool by_signal = false;
  int number = 0;  ///< the exit status, or the signal

  [[nodiscard]] bool success() const noexcept { return !by_signal && number == 0; }
  /// As a shell has it: 128 and the signal's number.
  [[nodiscard]] int code() const noexcept;
  /// "exit status 3", "killed by signal 9 (SIGKILL)"
  [[nodiscard]] std::string text() const;
};

class child {
 public:
  /// On failure: complaint, 127 when there is no such command, 126 when it cannot be executed.
  /// Nothing was executed then: whoever must not do it twice may try again.
  explicit child(program const& what);
  child(child const&) = delete;
  child& operator=(child const&) = delete;
  /// Kills the group unless poll() has seen the end.
  ~child();

  /// Sends the signal to the whole group. Never to another one that has the number later: after
  /// the child's end only while the group is not empty.
  void send(int signal) const noexcept;
  /// How it ended, once it has; the same answer from then on.
  [[nodiscard]] std::optional<child_status> const& poll() noexcept;
  /// A file that is readable once it has ended, for a call of ::poll; the caller closes it. -1:
  /// this kernel has none.
  [[nodiscard]] int open_end() const noexcept;
  /// Whether it was stopped (Ctrl-Z) since the last call. poll() sees it.
  [[nodiscard]] bool was_stopped() noexcept { return std::exchange(stopped_, false); }
  /// After its end: whether processes that it started are still in its group.
  [[nodiscard]] bool group_is_empty() const noexcept;

  /// Whether the terminal's foreground is, or was, the child's: it then gets Ctrl-C, and not us.
  [[nodiscard]] bool has_terminal() const noexcept { return has_terminal_; }
  /// Makes it the terminal's foreground, if that is ours now.
  void give_terminal() noexcept;
  void take_terminal_back() noexcept;

 private:
  void start_keeper();
  void end_keeper() noexcept;

  pid_t id_ = -1;
  pid_t keeper_ = -1;
  int keeper_waits_for_ = -1;  ///< closed by our end
  std::optional<child_status> status_;
  bool stopped_ = false;
  bool has_terminal_ = false;
};

}  // namespace command
