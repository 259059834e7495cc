#include "base/bell.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace daybook {
inline namespace v1 {
namespace base {

bell::bell() {
  if (::pipe2(ends_, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw std::system_error(errno, std::generic_category(), "a pipe");
  }
}

bell::~bell() {
  ::close(ends_[0]);
  ::close(ends_[1]);
}

void bell::ring() noexcept {
  // A pipe that is full is rung already.
  static_cast<void>(!::write(ends_[1], "!", 1));
}

void bell::silence() noexcept {
  std::array<char, 64> what{};
  while (::read(ends_[0], what.data(), what.size()) > 0) {
  }
}

}  // namespace base
}  // namespace v1
}  // namespace daybook
