#include "output/capture.hpp"

#include "cli/exit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace command {

namespace {

constexpr std::size_t at_once = 16384;

void close_file(int& file) noexcept {
  if (file >= 0) ::close(file);
  file = -1;
}

}  // namespace

capture::capture(line_reader reader, std::size_t longest_line)
    : reader_(std::move(reader)), longest_line_(longest_line) {
  for (auto& one : streams_) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      int const problem = errno;
      close_all();
      throw complaint(exit_code::cannot_execute,
                      fmt::format("cannot start a command: pipe: {}", std::strerror(problem)));
    }
    one.read = ends[0];
    one.write = ends[1];
    ::fcntl(one.read, F_SETFL, O_NONBLOCK);
  }
}

capture::~capture() { close_all(); }

void capture::close_all() noexcept {
  for (auto& one : streams_) {
    close_file(one.read);
    close_file(one.write);
  }
}

void capture::started() noexcept {
  for (auto& one : streams_) close_file(one.write);
}

std::array<int, 2> capture::files() const noexcept { return {streams_[0].read, streams_[1].read}; }

void capture::read() {
  for (auto& one : streams_) read_some(one);
}

void capture::finish() {
  for (auto& one : streams_) {
    // Not to its end: what the command has left running may hold it open.
    int waiting = 0;
    if (one.read < 0 || ::ioctl(one.read, FIONREAD, &waiting) != 0) waiting = 0;
    for (auto left = static_cast<std::size_t>(waiting); left > 0;) {
      auto const got = read_some(one);
      if (got == 0) break;
      left -= std::min(left, got);
    }
    if (!one.line.empty()) give(one, true);
  }
}

std::size_t capture::read_some(stream& stream) {
  if (stream.read < 0) return 0;
  std::array<char, at_once> buffer;
  auto const got = ::read(stream.read, buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (got <= 0) {
    close_file(stream.read);
    return 0;
  }
  auto const size = static_cast<std::size_t>(got);
  tail_.add(buffer.data(), size);
  take(stream, {buffer.data(), size});
  return size;
}

void capture::take(stream& stream, std::string_view text) {
  while (!text.empty()) {
    auto const room = longest_line_ - stream.line.size();
    auto const end = std::min(text.find('\n'), text.size());
    stream.line.append(text.substr(0, std::min(end, room)));
    if (end > room) {
      text.remove_prefix(room);
      give(stream, false);
    } else if (end < text.size()) {
      text.remove_prefix(end + 1);
      give(stream, true);
    } else {
      return;
    }
  }
}

void capture::give(stream& stream, bool ends) {
  bool const whole = ends && stream.whole;
  stream.whole = ends;
  auto const line = std::exchange(stream.line, {});
  reader_({stream.name, line, whole});
}

}  // namespace command
