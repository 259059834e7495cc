// Which step of a run is in hand, or has failed: `daybook step` tells the process that holds the
// run, through a file in memory that both see. It is for people: where the other does not see it
// (another machine, another user), no step is named.
// Thread safety: one thread.
//
//   step_note note;                                  // who holds the run
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

  /// For the child.
  [[nodiscard]] std::pair<std::string, std::string> variable() const;
  /// Empty: none.
  [[nodiscard]] std::string in_hand() const;
  /// The same, or the last that failed, where none was done after it.
  [[nodiscard]] std::string step() const;
  /// To be added to why the run has failed; empty where no step is to be named.
  [[nodiscard]] std::string text() const;

 private:
  int file_;
};

/// By `daybook step`.
enum class noted_step { in_hand, failed, done };
void note_step(std::string_view name, noted_step how) noexcept;

}  // namespace command
