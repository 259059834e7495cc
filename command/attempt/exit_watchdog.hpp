// Ends this program when its last statements take too long: a database that hangs without closing
// the connection must not hold up the caller that waits for our exit code. Nothing is lost: the
// lease runs out by itself. Thread safety: the thread that made it.
//
//   exit_watchdog guard;             // before the book: closing the book may hang, too
//   guard.arm(40s, 69, "nightly: not recorded: no answer from the database");
#pragma once

#include <chrono>
#include <string>
#include <thread>

namespace command {

class exit_watchdog {
 public:
  /// Prints `text` and exits with `code`, unless this object is destroyed within `limit`.
  void arm(std::chrono::milliseconds limit, int code, std::string text);

 private:
  std::jthread thread_;
};

}  // namespace command
