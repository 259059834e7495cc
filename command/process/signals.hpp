// Signals as events that a loop can wait for: TERM INT HUP QUIT USR1 USR2 CONT TSTP, and CHLD.
// A handler and a pipe rather than signalfd, for that would need the signals blocked in threads
// that libraries start. What was ignored when we were started (nohup) stays ignored.
// Thread safety: one object at a time in the program; the main thread uses it.
//
//   signals caught;
//   while (caught.wait(200ms)) while (auto one = caught.next()) act(*one);
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <sys/types.h>

namespace command {

struct caught_signal {
  int number = 0;
  pid_t sender = 0;  ///< 0: the kernel, so the terminal or a timer
};

class signals {
 public:
  signals();
  signals(signals const&) = delete;
  signals& operator=(signals const&) = delete;
  /// Puts the handlers back that were there at the start of the program.
  ~signals();

  [[nodiscard]] std::optional<caught_signal> next() noexcept;
  /// Until next() has one, or the time is over. False: the time was over.
  bool wait(std::chrono::milliseconds at_most) noexcept;

 private:
  int read_ = -1;
};

/// Whether it asks the program to end: TERM INT HUP QUIT USR1 USR2.
[[nodiscard]] bool asks_to_end(int signal) noexcept;
/// Waits for so long, Ctrl-Z apart. Returns the number of a signal that asks us to end, or 0.
[[nodiscard]] int wait_for(std::chrono::milliseconds length, signals& caught) noexcept;
/// Stops us as Ctrl-Z would without a handler; returns when somebody continues us. A group that
/// nobody could continue is not stopped.
void stop_ourselves() noexcept;
/// "SIGTERM", or "signal 40".
[[nodiscard]] std::string name_of_signal(int signal);

}  // namespace command
