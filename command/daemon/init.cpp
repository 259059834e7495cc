#include "daemon/init.hpp"

#include "cli/exit.hpp"
#include "daemon/service_manager.hpp"
#include "process/inherited.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace command {

namespace {

int to_init = -1;

bool is_given_orphans() noexcept {
  int reaper = 0;
  return ::getpid() == 1 || (::prctl(PR_GET_CHILD_SUBREAPER, &reaper) == 0 && reaper != 0);
}

bool have_terminal() noexcept {
  int const file = ::open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (file >= 0) ::close(file);
  return file >= 0;
}

void close_file(int file) noexcept {
  if (file >= 0) ::close(file);
}

class init {
 public:
  init(pid_t worker, bool terminal, int signals, int told) noexcept
      : worker_(worker), terminal_(terminal), signals_(signals), told_(told) {}

  /// The worker's exit code, as a shell has it.
  int work() {
    for (;;) {
      std::array<pollfd, 2> watch{{{signals_, POLLIN, 0}, {told_, POLLIN, 0}}};
      ::poll(watch.data(), watch.size(), -1);
      if (watch[1].revents != 0) pass_on();
      if (watch[0].revents == 0) continue;
      signalfd_siginfo one{};
      if (::read(signals_, &one, sizeof one) != static_cast<ssize_t>(sizeof one)) continue;
      if (one.ssi_signo != SIGCHLD) {
        hand_on(one);
      } else if (auto const code = reap()) {
        pass_on();
        return *code;
      }
    }
  }

 private:
  /// What the terminal sends has gone to its whole group, so to the worker; as has what the worker
  /// sends to its group.
  void hand_on(signalfd_siginfo const& one) const noexcept {
    auto const number = static_cast<int>(one.ssi_signo);
    bool const of_terminal = number == SIGINT || number == SIGQUIT || number == SIGTSTP ||
                             number == SIGTTIN || number == SIGTTOU || number == SIGWINCH;
    if (terminal_ && of_terminal && one.ssi_code == SI_KERNEL) return;
    if (one.ssi_code == SI_USER && one.ssi_pid == static_cast<unsigned>(worker_)) return;
    ::kill(worker_, number);
  }

  std::optional<int> reap() const noexcept {
    std::optional<int> out;
    int status = 0;
    for (pid_t id = 0; (id = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
      if (id != worker_) continue;
      if (WIFSTOPPED(status)) {
        ::kill(::getpid(), SIGSTOP);  // for the shell's eyes; the first process is not stopped
      } else {
        out = WIFEXITED(status) ? WEXITSTATUS(status) : exit_code::signalled + WTERMSIG(status);
      }
    }
    return out;
  }

  void pass_on() {
    std::array<char, 4096> text{};
    for (ssize_t got = 0; told_ >= 0;) {
      got = ::recv(told_, text.data(), text.size(), MSG_DONTWAIT);
      if (got < 0) return;
      if (got == 0) {
        ::close(told_);
        told_ = -1;
        return;
      }
      tell_service_manager(std::string_view(text.data(), static_cast<std::size_t>(got)));
    }
  }

  pid_t worker_;
  bool terminal_;
  int signals_;
  int told_;
};

/// In the worker: what main() was given, but for its number and, where there is no terminal that
/// would have to follow, a group of its own: what is sent to our group comes from init, once.
void begin_work(pid_t parent, bool terminal) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(exit_code::defect);  // it died before the line above
  if (!terminal) ::setpgid(0, 0);
  char const* const watched = std::getenv("WATCHDOG_PID");
  if (watched != nullptr && watched == std::to_string(parent)) {
    ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  }
  restore_signals_in_child();
}

}  // namespace

void work_beneath_init() noexcept {
  if (!is_given_orphans()) return;
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  std::signal(SIGCHLD, SIG_DFL);  // ignored, it would take the worker's exit status away
  std::array<int, 2> told{-1, -1};
  bool const ready = std::getenv("NOTIFY_SOCKET") == nullptr ||
                     ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, told.data()) == 0;
  int const signals = ready ? ::signalfd(-1, &all, SFD_CLOEXEC) : -1;
  bool const terminal = have_terminal();
  pid_t const parent = ::getpid();
  pid_t const worker = signals >= 0 ? ::fork() : -1;
  if (worker > 0) {
    close_file(told[1]);
    ::prctl(PR_SET_NAME, "daybook-init");
    ::_exit(init(worker, terminal, signals, told[0]).work());
  }
  close_file(signals);
  close_file(told[0]);
  if (worker == 0) {
    to_init = told[1];
    begin_work(parent, terminal);
  } else {
    close_file(told[1]);
    restore_signals_in_child();
  }
}

int way_to_init() noexcept { return to_init; }

}  // namespace command
