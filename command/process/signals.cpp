#include "process/signals.hpp"

#include "process/inherited.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

namespace command {

namespace {

constexpr std::array<int, 6> ending{SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
constexpr std::array<int, 9> watched{SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGUSR1,
                                     SIGUSR2, SIGCONT, SIGTSTP, SIGCHLD};

/// Where the handler writes; a plain int, for a handler may use little else.
volatile std::sig_atomic_t write_end = -1;

extern "C" void on_signal(int number, siginfo_t* info, void* /*context*/) {
  int const before = errno;
  caught_signal const one{number, info->si_code == SI_USER ? info->si_pid : 0};
  // A full pipe loses it: then thousands of others wait to be read already.
  [[maybe_unused]] auto const written = ::write(write_end, &one, sizeof one);
  errno = before;
}

struct sigaction const& given(int signal) {
  return what_was_inherited().actions[static_cast<std::size_t>(signal)];
}

}  // namespace

signals::signals() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe for signals");
  }
  read_ = ends[0];
  write_end = ends[1];
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigfillset(&action.sa_mask);
  for (int const signal : watched) {
    bool const ignored =
        (given(signal).sa_flags & SA_SIGINFO) == 0 && given(signal).sa_handler == SIG_IGN;
    // An ignored SIGCHLD would take the child's exit status away.
    if (!ignored || signal == SIGCHLD) ::sigaction(signal, &action, nullptr);
  }
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::pthread_sigmask(SIG_UNBLOCK, &child, nullptr);
}

signals::~signals() {
  for (int const signal : watched) ::sigaction(signal, &given(signal), nullptr);
  int const end = write_end;
  write_end = -1;
  ::close(end);
  ::close(read_);
}

std::optional<caught_signal> signals::next() noexcept {
  caught_signal one;
  if (::read(read_, &one, sizeof one) != static_cast<ssize_t>(sizeof one)) return {};
  return one;
}

bool signals::wait(std::chrono::milliseconds at_most) noexcept {
  pollfd watch{read_, POLLIN, 0};
  auto const length = std::clamp<std::int64_t>(at_most.count(), 0, 3'600'000);
  return ::poll(&watch, 1, static_cast<int>(length)) > 0;
}

bool asks_to_end(int signal) noexcept {
  return std::find(ending.begin(), ending.end(), signal) != ending.end();
}

int wait_for(std::chrono::milliseconds length, signals& caught) noexcept {
  using clock = std::chrono::steady_clock;
  auto const until = clock::now() + length;
  for (;;) {
    while (auto const one = caught.next()) {
      if (asks_to_end(one->number)) return one->number;
      if (one->number == SIGTSTP) stop_ourselves();
    }
    auto const rest = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
    if (rest <= std::chrono::milliseconds{0}) return 0;
    caught.wait(rest);
  }
}

void stop_ourselves() noexcept {
  struct sigaction ours {};
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(SIGTSTP, &by_default, &ours);
  ::pthread_kill(::pthread_self(), SIGTSTP);  // to this thread: done when the call returns
  ::sigaction(SIGTSTP, &ours, nullptr);
}

std::string name_of_signal(int signal) {
  char const* const short_name = ::sigabbrev_np(signal);
  return short_name == nullptr ? fmt::format("signal {}", signal)
                               : fmt::format("SIG{}", short_name);
}

}  // namespace command
