// A command's stdout and stderr, line by line to a function, and the end of both.
// Thread safety: one thread. Make it before the child.
//
//   capture output([&](printed_line const& one) { log(one.text); });
//   child job{{.words = words, .output = output.out(), .errors = output.err()}};
//   output.started();
//   ... output.read(), whenever one of output.files() is readable ...
//   output.finish();
#pragma once

#include "output/output_tail.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace command {

/// A line without its end. Lives as long as the call.
struct printed_line {
  std::string_view stream;  ///< "stdout" or "stderr"
  std::string_view text;
  bool whole = true;  ///< false: a piece of one that is too long
};

class capture {
 public:
  using line_reader = std::function<void(printed_line const&)>;

  static constexpr std::size_t usual_line = 8192;

  /// Longer lines come in pieces. On failure: complaint (126), for there is no room for another
  /// file.
  explicit capture(line_reader reader, std::size_t longest_line = usual_line);
  capture(capture const&) = delete;
  capture& operator=(capture const&) = delete;
  /// What is still written to them gets SIGPIPE from then on.
  ~capture();

  /// What the child is to have as its stdout and stderr.
  [[nodiscard]] int out() const noexcept { return streams_[0].write; }
  [[nodiscard]] int err() const noexcept { return streams_[1].write; }
  /// The child has them now.
  void started() noexcept;
  /// What to wait for; -1 where nothing more will come.
  [[nodiscard]] std::array<int, 2> files() const noexcept;
  /// Reads what is there, some of it when it is much. Does not wait.
  void read();
  /// Reads what was there when it was called, and takes what is left for the last line.
  void finish();
  /// The last 8 KiB of both, as they came.
  [[nodiscard]] std::string end() const { return tail_.text(); }

 private:
  struct stream {
    std::string_view name;
    int read = -1;
    int write = -1;
    std::string line = {};
    bool whole = true;  ///< no piece of this line was given out
  };
  /// How much was read; 0: nothing is there.
  std::size_t read_some(stream& stream);
  void take(stream& stream, std::string_view text);
  void give(stream& stream, bool ends);
  void close_all() noexcept;

  line_reader reader_;
  std::size_t longest_line_;
  std::array<stream, 2> streams_{{{"stdout"}, {"stderr"}}};
  output_tail tail_;
};

}  // namespace command
