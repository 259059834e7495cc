// Ends this program when its last words to the database take too long: one that hangs without
// closing the connection must not keep us, for whoever waits for our exit code could wait for ever.
// Nothing is lost by it: the lease runs out by itself.
// Thread safety: the thread that made it.
//
//   last_resort guard;             // before the book, for closing that may hang as well
//   guard.arm(40s, 69, "nightly: not recorded: no answer from the database");
#pragma once

#include <chrono>
#include <string>
#include <thread>

namespace command {

class last_resort {
 public:
  /// Unless this object is gone within `limit`: says `text` and exits with `code` at once.
  void arm(std::chrono::milliseconds limit, int code, std::string text);

 private:
  std::jthread thread_;
};

}  // namespace command
