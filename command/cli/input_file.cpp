#include "cli/input_file.hpp"

#include "cli/exit.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

namespace command {

input_file::input_file(std::string_view text)
    : file_(::memfd_create("daybook-input", MFD_CLOEXEC)) {
  bool fine = file_ >= 0;
  while (fine && !text.empty()) {
    auto const written = ::write(file_, text.data(), text.size());
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    fine = written > 0 || (written < 0 && errno == EINTR);
  }
  if (fine && ::lseek(file_, 0, SEEK_SET) == 0) return;
  int const problem = errno;
  if (file_ >= 0) ::close(file_);
  throw complaint(exit_code::cannot_execute,
                  fmt::format("cannot start a command: its input: {}", std::strerror(problem)));
}

input_file::~input_file() { ::close(file_); }

}  // namespace command
