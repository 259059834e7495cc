// The steps of one attempt, as `daybook step` begins and ends them. The process that holds the
// attempt keeps them in a file in memory, and names the file to its commands in $DAYBOOK_STEPS.
// The log answers two questions that the book cannot:
// - Which step is in hand, or failed? The book records a step when it is done.
// - Does a second command use the name of a step of this attempt? That is a mistake, most often a
//   loop, and would be skipped as done. An earlier attempt may have had another command, for
//   programs change.
// As another user, or on another machine, the file cannot be seen: no step is named then, and no
// command is refused.
// Thread safety: one thread. Several processes may write at once.
//
//   step_log steps(run.token());                        // `daybook run`, a daemon's tick
//   how.environment.push_back(steps.variable());
//   run.step_in_hand(steps.in_hand());
//
//   step_log_writer steps(token);                       // `daybook step`
//   steps.write(name, step_state::in_hand);
//   if (!steps.take(name, words)) refuse();
#pragma once

#include "cli/verbs.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace command {

enum class step_state { in_hand, failed, done };

/// In the process that holds the attempt. Without room for a file nothing is logged.
class step_log {
 public:
  /// `token`: the attempt's. Only writers with the same token write.
  explicit step_log(std::string_view token);
  step_log(step_log const&) = delete;
  step_log& operator=(step_log const&) = delete;
  ~step_log();

  /// The variable for the environment of the command.
  [[nodiscard]] std::pair<std::string, std::string> variable() const;
  /// The step in hand, the last of several; empty where there is none.
  [[nodiscard]] std::string in_hand() const;
  /// The step in hand, else the last step if it failed; empty otherwise.
  [[nodiscard]] std::string step() const;
  /// "; step upload failed": the end of a message about the attempt; empty where step() is.
  [[nodiscard]] std::string text() const;

 private:
  int file_ = -1;
};

/// In a command of the attempt. Where the file cannot be seen, or is not the attempt's, take()
/// takes every command, and write() does nothing.
class step_log_writer {
 public:
  explicit step_log_writer(std::string const& token);
  step_log_writer(step_log_writer const&) = delete;
  step_log_writer& operator=(step_log_writer const&) = delete;
  ~step_log_writer();

  void write(std::string_view step, step_state state) const;
  /// Remembers the step's command where the step is new. False: the attempt knows the step with
  /// other words, or in another folder.
  [[nodiscard]] bool take(std::string_view step, arguments const& words) const;

 private:
  int file_ = -1;
};

}  // namespace command
