// A text for a command to read as its stdin: a file in memory without a name, not a pipe, so that
// nobody has to write while it reads, and one that does not read holds nobody up.
// Thread safety: one thread.
//
//   input_file input(text);
//   child job{{.words = words, .input = input.file()}};
#pragma once

#include <string_view>

namespace command {

class input_file {
 public:
  /// On failure: complaint (126), for there is no room for it.
  explicit input_file(std::string_view text);
  input_file(input_file const&) = delete;
  input_file& operator=(input_file const&) = delete;
  ~input_file();
  [[nodiscard]] int file() const noexcept { return file_; }

 private:
  int file_ = -1;
};

}  // namespace command
