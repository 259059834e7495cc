#include "attempt/parent.hpp"

#include <cerrno>
#include <csignal>

#include <sys/prctl.h>
#include <unistd.h>

namespace command {

namespace {

/// Ignored unless it is caught, and of no use to our libraries.
constexpr int told_by = SIGURG;

volatile std::sig_atomic_t parent = 0;

/// The signal comes again with the end of each thread that is our parent after the first; with the
/// last of them the process is gone, and our parent another.
extern "C" void look_at_parent(int /*signal*/) {
  int const before = errno;
  if (::getppid() != parent) ::kill(::getpid(), SIGKILL);
  errno = before;
}

}  // namespace

void end_with_parent() noexcept {
  int there = 0;
  if (::prctl(PR_GET_PDEATHSIG, &there) == 0 && there != 0) return;
  parent = ::getppid();
  struct sigaction action {};
  action.sa_handler = look_at_parent;
  action.sa_flags = SA_RESTART;
  ::sigaction(told_by, &action, nullptr);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, told_by);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::prctl(PR_SET_PDEATHSIG, told_by);
  look_at_parent(told_by);  // it may have ended before the line above
}

}  // namespace command
