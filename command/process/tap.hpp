// Stands between a child's output and ours: passes it on as it comes, and keeps its end.
// A stream that is a terminal is left alone, for the child must see that it is one.
// Each stream has a small process, not a thread: what a child leaves running may go on writing when
// we are gone, as it could without us; and whoever reads our output to its end waits for it too.
// When nobody reads our output any more, nobody reads the child's: it gets SIGPIPE as without us.
// Thread safety: the thread that made it. Make it before the child.
//
//   tap output{tap::what::all};
//   child job{{.words = words, .output = output.out(), .errors = output.err()}};
//   output.started();
//   auto end = supervise(job, caught, {});
//   output.settle(caught);
//   std::cout << output.tail();
#pragma once

#include "output/tail.hpp"
#include "process/signals.hpp"

#include <string>
#include <vector>

#include <sys/types.h>

namespace command {

class tap {
 public:
  enum class what { all, nothing };

  /// On failure: complaint (126), for there is no room for another process or file.
  explicit tap(what wanted);
  tap(tap const&) = delete;
  tap& operator=(tap const&) = delete;
  /// Never waits.
  ~tap();

  /// What the child is to have as its stdout and stderr; -1: ours.
  [[nodiscard]] int out() const noexcept { return out_; }
  [[nodiscard]] int err() const noexcept { return err_; }
  /// The child has them now.
  void started() noexcept;
  /// Returns when all that was written so far is passed on, so after the child's end: all of its
  /// output. Does not wait for those that it left running. A signal that asks us to end is enough
  /// to give up: the rest is still passed on behind us.
  void settle(signals& caught);
  /// The last 8 KiB of what was passed on, of both streams in the order of their coming.
  [[nodiscard]] std::string tail() const;

 private:
  struct pump {
    pid_t id = -1;
    int asks = -1;       ///< a byte there and one back: all is passed on
    bool ended = false;  ///< instead of an answer
  };
  int open_pump(int to);
  void close_all() noexcept;

  int out_ = -1;
  int err_ = -1;
  command::tail* kept_ = nullptr;  ///< shared with the pumps
  std::vector<pump> pumps_;
};

}  // namespace command
