#include "process/output_tee.hpp"

#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "process/inherited.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace command {

namespace {

constexpr std::size_t buffer_size = 65536;
/// A write of so many bytes to a pipe is whole: lines of several programs on one pipe do not mix.
constexpr std::size_t whole_write = 4096;

/// Where a pump has its files.
enum pump_file : int { from = 0, to = 1, alarm_file = 2 };

[[noreturn]] void leave(int problem) noexcept { ::_exit(problem == EPIPE ? 0 : problem); }

void write_all(char const* data, std::size_t size) noexcept {
  while (size > 0) {
    auto const written = ::write(to, data, size);
    if (written >= 0) {
      data += written;
      size -= static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      pollfd room{to, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      leave(errno);
    }
  }
}

/// Lines that are whole in the buffer are written whole. Returns how much is held back: the
/// beginning of a line, where more is known to come.
std::size_t write_lines(char* data, std::size_t size, bool more) noexcept {
  while (size > 0) {
    auto piece = std::min(size, whole_write);
    if (piece < size || more) {
      auto const* const line = static_cast<char const*>(::memrchr(data, '\n', piece));
      if (line != nullptr) {
        piece = static_cast<std::size_t>(line - data) + 1;
      } else if (piece == size && size < whole_write) {
        break;
      }
    }
    write_all(data, piece);
    data += piece;
    size -= piece;
  }
  return size;
}

/// In a process of its own; calls only what a signal handler may. All signals are blocked: it ends
/// with its input, or with its output.
[[noreturn]] void copy(output_tail& keep) noexcept {
  static std::array<char, buffer_size> buffer;
  std::size_t held = 0;
  std::int64_t owed = -1;  // bytes still to be passed on before we may answer; -1: nobody asks
  bool anyone_asks = true;
  for (;;) {
    std::array<pollfd, 3> watch{{{from, POLLIN, 0},
                                 {to, 0, 0},
                                 {anyone_asks && owed < 0 ? int{alarm_file} : -1, POLLIN, 0}}};
    // A line's beginning that is held back waits a moment for the rest, no longer.
    if (owed != 0 && ::poll(watch.data(), watch.size(), held > 0 ? 20 : -1) == 0) {
      write_lines(buffer.data(), std::exchange(held, 0), false);
      continue;
    }
    // A socket whose reader is gone is only hung up.
    if ((watch[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) leave(EPIPE);
    if (watch[2].revents != 0) {
      char byte = 0;
      anyone_asks = ::read(alarm_file, &byte, 1) == 1;
      int waiting = 0;
      if (anyone_asks) owed = ::ioctl(from, FIONREAD, &waiting) == 0 ? waiting : 0;
    }
    if (owed == 0) {
      write_lines(buffer.data(), std::exchange(held, 0), false);
      owed = -1;
      ::send(alarm_file, "", 1, MSG_NOSIGNAL);
      continue;
    }
    if (watch[0].revents == 0 && owed < 0) continue;
    auto const got = ::read(from, buffer.data() + held, buffer.size() - held);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      write_lines(buffer.data(), held, false);
      leave(0);
    }
    auto const size = static_cast<std::size_t>(got);
    keep.add(buffer.data() + held, size);
    if (owed > 0) owed = std::max<std::int64_t>(0, owed - got);
    auto const all = held + size;
    held = write_lines(buffer.data(), all, all == buffer.size());
    std::memmove(buffer.data(), buffer.data() + all - held, held);
  }
}

/// Its three files and nothing else: no pipe's other end, no database.
void keep_files(int input, int output, int asks) noexcept {
  constexpr int above = alarm_file + 1;
  int const a = ::fcntl(input, F_DUPFD, above);
  int const b = ::fcntl(output, F_DUPFD, above);
  int const c = ::fcntl(asks, F_DUPFD, above);
  if (a < 0 || b < 0 || c < 0) leave(errno);
  ::dup2(a, from);
  ::dup2(b, to);
  ::dup2(c, alarm_file);
  ::close_range(alarm_file + 1, ~0U, 0);
}

bool worth_tapping(int file) noexcept {
  int const flags = was_inherited(file) ? ::fcntl(file, F_GETFL) : -1;
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && ::isatty(file) == 0;
}

/// Both go to one place (2>&1): through one pipe, so that their order stays.
bool are_one(int left, int right) noexcept {
  struct stat a {};
  struct stat b {};
  return ::fstat(left, &a) == 0 && ::fstat(right, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

}  // namespace

output_tee::output_tee(mode streams) {
  bool const out = streams == mode::all && worth_tapping(STDOUT_FILENO);
  bool const err = streams == mode::all && worth_tapping(STDERR_FILENO);
  if (!out && !err) return;
  void* const shared = ::mmap(nullptr, sizeof(output_tail), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    throw complaint(exit_code::cannot_execute,
                    fmt::format("cannot start a command: mmap: {}", std::strerror(errno)));
  }
  kept_ = new (shared) output_tail;
  try {
    if (out) out_ = open_pump(STDOUT_FILENO);
    if (err) {
      err_ = out && are_one(STDOUT_FILENO, STDERR_FILENO) ? ::fcntl(out_, F_DUPFD_CLOEXEC, 3)
                                                          : open_pump(STDERR_FILENO);
    }
  } catch (...) {
    close_all();
    throw;
  }
}

int output_tee::open_pump(int output) {
  std::array<int, 2> data{-1, -1};
  std::array<int, 2> asks{-1, -1};
  pid_t id = -1;
  if (::pipe2(data.data(), O_CLOEXEC) == 0 &&
      ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, asks.data()) == 0) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    id = ::fork();
    if (id == 0) {
      ::setpgid(0, 0);
      ::prctl(PR_SET_NAME, "daybook-output");
      keep_files(data[0], output, asks[1]);
      copy(*kept_);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  int const problem = errno;
  for (int const file : {data[0], asks[1]}) {
    if (file >= 0) ::close(file);
  }
  if (id < 0) {
    for (int const file : {data[1], asks[0]}) {
      if (file >= 0) ::close(file);
    }
    throw complaint(exit_code::cannot_execute,
                    fmt::format("cannot start a command: {}", std::strerror(problem)));
  }
  pumps_.push_back({.id = id, .asks = asks[0]});
  return data[1];
}

void output_tee::started() noexcept {
  for (int* const file : {&out_, &err_}) {
    if (*file >= 0) ::close(*file);
    *file = -1;
  }
}

void output_tee::settle(signals& caught) {
  for (auto& one : pumps_) {
    one.ended = ::send(one.asks, "", 1, MSG_NOSIGNAL) != 1;
    if (one.ended) continue;  // all is passed on
    for (bool waiting = true; waiting;) {
      pollfd answer{one.asks, POLLIN, 0};
      waiting = ::poll(&answer, 1, 50) <= 0;
      while (auto const signal = caught.next()) {
        if (asks_to_end(signal->number)) return;
        if (signal->number == SIGTSTP) stop_ourselves();
      }
    }
    char byte = 0;
    one.ended = ::recv(one.asks, &byte, 1, MSG_DONTWAIT) != 1;
  }
  for (auto& one : pumps_) {
    int status = 0;
    // What has closed its files is about to end, but need not have an exit status yet.
    if (::waitpid(one.id, &status, one.ended ? 0 : WNOHANG) != one.id) continue;
    one.id = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
      say(fmt::format("the command's output could not be written: {}",
                      std::strerror(WEXITSTATUS(status))));
    }
  }
}

std::string output_tee::tail() const { return kept_ == nullptr ? std::string{} : kept_->text(); }

void output_tee::close_all() noexcept {
  started();
  for (auto const& one : pumps_) {
    ::close(one.asks);
    if (one.id > 0) ::waitpid(one.id, nullptr, WNOHANG);
  }
  pumps_.clear();
  if (kept_ != nullptr) ::munmap(kept_, sizeof(output_tail));
  kept_ = nullptr;
}

output_tee::~output_tee() { close_all(); }

}  // namespace command
