// A command that runs beneath us, without a shell, in a process group of its own. Nothing that it
// has started outlives us, in whatever group or session: a reaper (reaper.hpp) is between us, and
// kills all of it when we end, also when we are killed with SIGKILL.
// Thread safety: one thread at a time. Needs remember_inherited().
//
//   child job{{.words = {"make", "all"}, .environment = {{"LANG", "C"}}}};
//   while (!job.poll()) wait();
#pragma once

#include "process/reaper.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace command {

struct program {
  std::vector<std::string> words = {};  ///< the first is looked for in PATH unless it has a '/'
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< beside and over ours
  std::vector<std::string> hidden = {};  ///< variables of ours that it does not get
  int input = -1;                        ///< its stdin; -1: ours, or nothing where it is alone
  int output = -1;                       ///< its stdout; -1: ours
  int errors = -1;                       ///< its stderr
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

/// Why the program that a first word names could not be started now. Empty: it can, as far as can
/// be seen.
[[nodiscard]] std::string why_not_started(std::string const& word);

struct plan;  // child.cpp

class child {
 public:
  /// On failure: complaint, 127 when there is no such command, 126 when it cannot be executed.
  /// Nothing was executed then: whoever must not do it twice may try again.
  explicit child(program const& program);
  child(child const&) = delete;
  child& operator=(child const&) = delete;
  /// Kills it with all that it has started, unless poll() has seen its end.
  ~child();

  /// Sends the signal to the whole group; never to another one that has the number later.
  void send(int signal) const noexcept;
  /// Asks the group to end, and from now on what is orphaned outside of it.
  void end() const noexcept;
  /// Kills all that it has started, and itself.
  void kill() const noexcept;
  /// How it ended, once it has; the same answer from then on.
  [[nodiscard]] std::optional<child_status> const& poll() noexcept;
  /// A file that is readable when poll() has something to find, for a call of ::poll; the caller
  /// closes it. -1: there is no room for another file.
  [[nodiscard]] int open_news() const noexcept;
  /// Whether it was stopped (Ctrl-Z) since the last call. poll() sees it.
  [[nodiscard]] bool was_stopped() noexcept { return std::exchange(stopped_, false); }
  /// Whether it has ended, and so has all that it has started.
  [[nodiscard]] bool nothing_left() noexcept;

  /// Whether the terminal's foreground is, or was, the child's: it then gets Ctrl-C, and not us.
  [[nodiscard]] bool has_terminal() const noexcept { return has_terminal_; }
  /// Makes it the terminal's foreground, if that is ours now.
  void give_terminal() noexcept;
  void take_terminal_back() noexcept;

 private:
  /// 0, or why not: an errno.
  [[nodiscard]] int start_keeper(plan const& plan);
  /// It kills what it was not told to leave, and is waited for.
  void end_keeper() noexcept;
  void order(reaper_order::what kind, int number = 0) const noexcept;
  /// False: there is nothing new.
  bool hear(reaper_report& news) noexcept;

  pid_t id_ = -1;
  pid_t keeper_ = -1;
  int to_keeper_ = -1;  ///< closed by our end
  std::optional<child_status> status_;
  bool nothing_left_ = false;
  bool stopped_ = false;
  bool has_terminal_ = false;
};

}  // namespace command
