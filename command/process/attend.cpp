#include "process/attend.hpp"

#include <array>
#include <chrono>
#include <cstdint>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace command {

namespace {

using std::chrono::milliseconds;

/// A file to wait for, closed at the end.
class waited {
 public:
  explicit waited(int file) : file_(file) {}
  waited(waited const&) = delete;
  waited& operator=(waited const&) = delete;
  ~waited() {
    if (file_ >= 0) ::close(file_);
  }
  [[nodiscard]] int file() const noexcept { return file_; }

 private:
  int file_;
};

/// Readable from the moment when a token asks to stop.
class alarm {
 public:
  explicit alarm(limits const& limits)
      : lost_(limits.lost, ring(this)),
        stopping_(limits.stopping, ring(this)),
        kill_(limits.kill, ring(this)) {}

  [[nodiscard]] int file() const noexcept { return bell_.file(); }
  void hush() const noexcept {
    std::uint64_t count = 0;
    [[maybe_unused]] auto const got = ::read(bell_.file(), &count, sizeof count);
  }

 private:
  struct ring {
    explicit ring(alarm* alarm) : file(alarm->bell_.file()) {}
    void operator()() const noexcept {
      std::uint64_t const one = 1;
      [[maybe_unused]] auto const written = ::write(file, &one, sizeof one);
    }
    int file;
  };

  waited bell_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::stop_callback<ring> lost_;
  std::stop_callback<ring> stopping_;
  std::stop_callback<ring> kill_;
};

}  // namespace

attended attend(child& job, capture& output, limits const& within) {
  waited const news(job.open_news());
  alarm const asked(within);
  // Where there is no file to wait for, or no alarm, we look from time to time.
  milliseconds const at_most =
      news.file() < 0 || asked.file() < 0 ? milliseconds{100} : std::chrono::hours{1};
  overseer over(job, within);
  while (!over.look()) {
    auto const files = output.files();
    std::array<pollfd, 4> watch{{{news.file(), POLLIN, 0},
                                 {asked.file(), POLLIN, 0},
                                 {files[0], POLLIN, 0},
                                 {files[1], POLLIN, 0}}};
    ::poll(watch.data(), watch.size(), static_cast<int>(over.pause(at_most).count()));
    if (watch[1].revents != 0) asked.hush();
    output.read();
  }
  output.finish();
  return {over.why(), over.status()};
}

}  // namespace command
