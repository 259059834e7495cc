#include "process/reaper.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace command {

namespace {

/// How often to look for orphans, of whose coming nobody tells.
constexpr int between_looks_ms = 20;

/// The numbers of children, as the kernel writes them.
std::array<char, 65536> listed;

class reaper {
 public:
  reaper(int socket, pid_t parent, pid_t id) noexcept : socket_(socket), parent_(parent), id_(id) {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    signals_ = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    // A kernel without it leaves us the process group, and nothing else.
    children_ = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  }

  [[noreturn]] void work() noexcept {
    tell(reaper_report::what::started, id_);
    for (;;) {
      std::array<pollfd, 2> watch{
          {{parent_is_gone_ ? -1 : socket_, POLLIN, 0}, {signals_, POLLIN, 0}}};
      ::poll(watch.data(), watch.size(), ending_ || killing_ ? between_looks_ms : -1);
      signalfd_siginfo one{};
      while (::read(signals_, &one, sizeof one) > 0) continue;
      obey();
      reap();
      if (ending_) end_orphans();
      if (killing_) kill_all();
      if (!nothing_left_ && nothing_is_left()) {
        nothing_left_ = true;
        tell(reaper_report::what::nothing_left, 0);
      }
      if (nothing_left_ && parent_is_gone_) ::_exit(0);
    }
  }

 private:
  void tell(reaper_report::what kind, int number) const noexcept {
    reaper_report const news{kind, number};
    while (::send(socket_, &news, sizeof news, MSG_NOSIGNAL) < 0 && errno == EINTR) continue;
    if (::getppid() == parent_) ::kill(parent_, SIGCHLD);
  }

  void obey() noexcept {
    while (!parent_is_gone_) {
      reaper_order order;
      auto const got = ::recv(socket_, &order, sizeof order, MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got != static_cast<ssize_t>(sizeof order)) {
        parent_is_gone_ = true;
        may_reap_ = true;
        killing_ = true;
        return;
      }
      switch (order.kind) {
        case reaper_order::what::reap: may_reap_ = true; break;
        case reaper_order::what::signal: signal_group(order.number); break;
        case reaper_order::what::end: ending_ = true; break;
        case reaper_order::what::kill: killing_ = true; break;
        case reaper_order::what::leave:
          if (killing_) break;
          may_reap_ = true;
          reap();
          ::_exit(0);
      }
    }
  }

  void reap() noexcept {
    for (;;) {
      siginfo_t info{};
      if (::waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) != 0) {
        if (errno == EINTR) continue;
        childless_ = errno == ECHILD;
        return;
      }
      if (info.si_pid == 0) return;
      bool const ours = info.si_pid == id_;
      bool const ended = info.si_code != CLD_STOPPED && info.si_code != CLD_TRAPPED;
      if (ours && ended && !told_end_) {
        told_end_ = true;
        tell(info.si_code == CLD_EXITED ? reaper_report::what::exited
                                        : reaper_report::what::signalled,
             info.si_status);
      }
      // While it is a zombie nobody else can have its number, which our parent still uses.
      if (ours && ended && !may_reap_) return;
      siginfo_t same{};
      ::waitid(P_PID, static_cast<id_t>(info.si_pid), &same,
               (ended ? WEXITED : WSTOPPED) | WNOHANG);
      if (!ours || same.si_pid == 0) continue;
      if (ended) {
        reaped_ = true;
      } else {
        tell(reaper_report::what::stopped, 0);
      }
    }
  }

  /// Calls `each` for every child; only we reap them, so their numbers are nobody else's meanwhile.
  /// One may be left out while another ends: look again.
  template <class F>
  void for_children(F const& each) const noexcept {
    auto const got = children_ < 0 ? 0 : ::pread(children_, listed.data(), listed.size(), 0);
    pid_t number = 0;
    for (ssize_t at = 0; at < got; ++at) {
      char const c = listed[static_cast<std::size_t>(at)];
      if (c >= '0' && c <= '9') {
        number = number * 10 + (c - '0');
      } else if (number != 0) {
        each(number);
        number = 0;
      }
    }
  }

  /// Somebody of the group is a child of ours, so its number is not another's.
  [[nodiscard]] bool group_is_ours() const noexcept {
    if (!reaped_ || children_ < 0) return true;
    bool out = false;
    for_children([&](pid_t child) { out = out || ::getpgid(child) == id_; });
    return out;
  }

  void signal_group(int number) const noexcept {
    if (group_is_ours()) ::kill(-id_, number);
  }

  void end_orphans() noexcept {
    for_children([this](pid_t child) {
      auto* const end = asked_.data() + asked_count_;
      if (child == id_ || ::getpgid(child) == id_) return;  // asked as the group is
      if (asked_count_ == asked_.size() || std::find(asked_.data(), end, child) != end) return;
      asked_[asked_count_++] = child;
      ::kill(child, SIGTERM);
      ::kill(child, SIGCONT);  // one that is stopped gets no TERM
    });
  }

  /// From above: what is beneath them becomes ours, and is killed at the next look.
  void kill_all() const noexcept {
    signal_group(SIGKILL);
    for_children([](pid_t child) { ::kill(child, SIGKILL); });
  }

  [[nodiscard]] bool nothing_is_left() const noexcept {
    if (childless_) return true;
    if (!reaped_) return false;
    if (children_ < 0) return ::kill(-id_, 0) != 0 && errno == ESRCH;
    if (!killing_) return false;
    // What has another user now (sudo) is not for us to kill, nor to be waited for.
    bool any = false;
    bool may_be_killed = false;
    for_children([&](pid_t child) {
      any = true;
      may_be_killed = may_be_killed || ::kill(child, 0) == 0 || errno != EPERM;
    });
    return any && !may_be_killed;
  }

  int socket_;
  pid_t parent_;
  pid_t id_;
  int signals_ = -1;
  int children_ = -1;
  bool parent_is_gone_ = false;
  bool told_end_ = false;
  bool may_reap_ = false;
  bool reaped_ = false;
  bool ending_ = false;
  bool killing_ = false;
  bool childless_ = false;
  bool nothing_left_ = false;
  std::array<pid_t, 1024> asked_{};  ///< to end; more are only killed
  std::size_t asked_count_ = 0;
};

}  // namespace

void keep(int socket, void (*start)(void const*, pid_t), void const* context) noexcept {
  pid_t const parent = ::getppid();
  pid_t const self = ::getpid();
  // Out of our parent's group, for a SIGKILL sent to that is not for it.
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, "daybook-keeper");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::signal(SIGCHLD, SIG_DFL);  // ignored, it would take the exit status away
  // Not fork(): that calls what libraries have asked for, which is not for a child of many threads.
  pid_t const id = ::_Fork();
  if (id == 0) start(context, self);
  int const problem = errno;
  if (id > 0) ::setpgid(id, id);  // here too: whoever is first; it fails once it has called exec
  // And out of its files: the other end of the socket, and what somebody may read to its end.
  ::dup2(socket, STDIN_FILENO);
  ::close_range(STDIN_FILENO + 1, ~0U, 0);
  if (id > 0) reaper(STDIN_FILENO, parent, id).work();
  reaper_report const news{reaper_report::what::not_started, problem};
  ::send(STDIN_FILENO, &news, sizeof news, MSG_NOSIGNAL);
  ::_exit(0);
}

}  // namespace command
