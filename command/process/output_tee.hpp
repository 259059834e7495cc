// Passes the output of a child on to ours as it comes, and keeps the end of it.
// Leaves a stream that is a terminal alone: the child must see the terminal.
// Each stream has a small process, not a thread: a process that the child leaves behind may go on
// writing when we have ended, and a reader of our output waits for it.
// When the reader of our output is gone, the child gets SIGPIPE, as it would without us.
// Thread safety: the thread that made it. Make it before the child.
//
//   output_tee output{output_tee::mode::all};
//   child job{{.words = words, .output = output.out(), .errors = output.err()}};
//   output.started();
//   auto end = supervise(job, caught, {});
//   output.settle(caught);
//   std::cout << output.tail();
#pragma once

#include "output/output_tail.hpp"
#include "process/signals.hpp"

#include <string>
#include <vector>

#include <sys/types.h>

namespace command {

class output_tee {
 public:
  enum class mode { all, nothing };

  /// On failure: complaint (126), for there is no room for another process or file.
  explicit output_tee(mode streams);
  output_tee(output_tee const&) = delete;
  output_tee& operator=(output_tee const&) = delete;
  /// Never waits.
  ~output_tee();

  /// The stdout and stderr of the child; -1: the same as ours.
  [[nodiscard]] int out() const noexcept { return out_; }
  [[nodiscard]] int err() const noexcept { return err_; }
  /// The child has them now.
  void started() noexcept;
  /// Waits until all output written so far is passed on. Does not wait for processes that the child
  /// left behind. Gives up when a signal asks us to end; the small processes pass on the rest.
  void settle(signals& caught);
  /// The last 8 KiB of output, both streams in the order of arrival.
  [[nodiscard]] std::string tail() const;

 private:
  struct pump {
    pid_t id = -1;
    int asks = -1;       ///< a byte there and one back: all is passed on
    bool ended = false;  ///< instead of an answer
  };
  int open_pump(int descriptor);
  void close_all() noexcept;

  int out_ = -1;
  int err_ = -1;
  output_tail* kept_ = nullptr;  ///< shared with the pumps
  std::vector<pump> pumps_;
};

}  // namespace command
