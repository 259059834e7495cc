// Names the step of a run that is in hand, or that failed. `daybook step` writes the name into a
// file in memory, and the process that holds the run reads it. Messages for people use the name.
// On another machine, or as another user, the file cannot be seen: messages then name no step.
// Thread safety: one thread.
//
//   step_note note;                                  // in the process that holds the run
//   how.environment.push_back(note.variable());
//   ... run.step_in_hand(note.in_hand()) ...
//   throw std::runtime_error(status + note.text());  // "exit status 3; step upload failed"
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace command {

class step_note {
 public:
  step_note() noexcept;
  step_note(step_note const&) = delete;
  step_note& operator=(step_note const&) = delete;
  ~step_note();

  /// The environment variable that the child needs.
  [[nodiscard]] std::pair<std::string, std::string> variable() const;
  /// The step in hand; empty where there is none.
  [[nodiscard]] std::string in_hand() const;
  /// The step in hand, else the last step if it failed; empty otherwise.
  [[nodiscard]] std::string step() const;
  /// The end of a message about the run's failure; empty where step() is.
  [[nodiscard]] std::string text() const;

 private:
  int file_;
};

enum class step_state { in_hand, failed, done };
/// Called by `daybook step`. Does nothing where the file cannot be seen.
void note_step(std::string_view name, step_state state) noexcept;

}  // namespace command
