#include "child.hpp"

#include "exit.hpp"
#include "format.hpp"
#include "inherited.hpp"
#include "signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace command {

namespace {

/// Blocks every signal of this thread for its lifetime: around fork, so that no handler of ours
/// runs in the child, and around tcsetpgrp, which would stop us otherwise.
class quiet {
 public:
  quiet() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  quiet(quiet const&) = delete;
  quiet& operator=(quiet const&) = delete;
  ~quiet() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

bool terminal_is_ours() noexcept {
  return ::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
}

void set_foreground(pid_t group) noexcept {
  quiet const around;
  ::tcsetpgrp(STDIN_FILENO, group);
}

/// Everything that exec needs, made before fork: the child must not allocate.
struct plan {
  std::vector<std::string> paths, words, environment;
  std::vector<char*> path_pointers, word_pointers, environment_pointers;
  bool take_terminal = false;
  bool alone = false;
  int input = -1;
  int output = -1;
  int errors = -1;
};

std::vector<std::string> candidates(std::string const& word) {
  if (word.find('/') != std::string::npos) return {word};
  std::vector<std::string> out;
  char const* const set = std::getenv("PATH");
  std::string_view rest = set == nullptr ? "/usr/local/bin:/usr/bin:/bin" : set;
  for (;;) {
    auto const colon = rest.find(':');
    auto const folder = rest.substr(0, colon);
    out.push_back(folder.empty() ? "./" + word : std::string(folder) + "/" + word);
    if (colon == std::string_view::npos) return out;
    rest.remove_prefix(colon + 1);
  }
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment_of(program const& what) {
  std::vector<std::string> out;
  for (char** one = environ; *one != nullptr; ++one) {
    std::string_view const entry = *one;
    auto const name = entry.substr(0, entry.find('='));
    bool const replaced = std::any_of(what.environment.begin(), what.environment.end(),
                                      [&](auto const& ours) { return ours.first == name; });
    if (!replaced) out.emplace_back(entry);
  }
  for (auto const& [name, value] : what.environment) out.push_back(name + "=" + value);
  return out;
}

/// In the child: from here on only what a signal handler may call. `keeper` is the pipe to it, and
/// is told of us before anything is executed that could leave something behind.
[[noreturn]] void become(plan const& what, pid_t parent, int report, int keeper) noexcept {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(exit_code::not_found);  // it died before the line above
  int problem = ENOENT;
  pid_t const id = ::getpid();
  // SIGPIPE is blocked here, as every signal is.
  if (::write(keeper, &id, sizeof id) != static_cast<ssize_t>(sizeof id)) {
    problem = errno;
    [[maybe_unused]] auto const written = ::write(report, &problem, sizeof problem);
    ::_exit(exit_code::not_found);
  }
  if (what.take_terminal) ::tcsetpgrp(STDIN_FILENO, ::getpid());
  restore_signals_in_child();
  close_own_files_at_exec();
  if (what.alone) ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  if (what.input >= 0) ::dup2(what.input, STDIN_FILENO);
  if (what.output >= 0) ::dup2(what.output, STDOUT_FILENO);
  if (what.errors >= 0) ::dup2(what.errors, STDERR_FILENO);
  for (char* const* path = what.path_pointers.data(); *path != nullptr; ++path) {
    // execve, not execvp: that would hand a file without a "#!" line to a shell.
    ::execve(*path, what.word_pointers.data(), what.environment_pointers.data());
    if (errno == ENOENT || errno == ENOTDIR) continue;
    problem = errno;
    if (errno != EACCES) break;
  }
  [[maybe_unused]] auto const written = ::write(report, &problem, sizeof problem);
  ::_exit(exit_code::not_found);
}

[[noreturn]] void not_started(std::string const& word, plan const& what, int problem) {
  auto const name = printable(word);
  if (problem == ENOENT) {
    auto const there = std::find_if(what.paths.begin(), what.paths.end(), [](auto const& path) {
      return ::access(path.c_str(), F_OK) == 0;
    });
    if (there == what.paths.end()) {
      throw complaint(exit_code::not_found, fmt::format("{}: command not found", name));
    }
    throw complaint(exit_code::cannot_execute,
                    fmt::format("{}: cannot execute: the interpreter that its first line (#!) "
                                "names is not there",
                                printable(*there)));
  }
  throw complaint(exit_code::cannot_execute,
                  problem == ENOEXEC
                      ? fmt::format("{}: cannot execute: no program, and no script that begins "
                                    "with #!",
                                    name)
                      : fmt::format("{}: cannot execute: {}", name, std::strerror(problem)));
}

pid_t wait_for(pid_t id) noexcept {
  pid_t ended = 0;
  do {
    ended = ::waitpid(id, nullptr, 0);
  } while (ended < 0 && errno == EINTR);
  return ended;
}

[[noreturn]] void no_resources(char const* what, int problem) {
  throw complaint(exit_code::cannot_execute,
                  fmt::format("cannot start a command: {}: {}", what, std::strerror(problem)));
}

/// In the keeper: who is to be kept comes first, and then nothing until our end.
[[noreturn]] void keep(int input) noexcept {
  // Out of our group, for a SIGKILL sent to that is not for it; and of our files, above all of
  // the pipe's other end and of the standard ones that somebody may read to their end.
  ::setpgid(0, 0);
  ::dup2(input, STDIN_FILENO);
  ::close_range(STDIN_FILENO + 1, ~0U, 0);
  ::prctl(PR_SET_NAME, "daybook-keeper");
  pid_t id = -1;
  ssize_t got = 0;
  do {
    got = ::read(STDIN_FILENO, &id, sizeof id);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof id)) ::_exit(0);  // nothing was executed
  char nothing = 0;
  while (::read(STDIN_FILENO, &nothing, 1) < 0 && errno == EINTR) continue;
  ::kill(-id, SIGKILL);
  ::_exit(0);
}

}  // namespace

int child_status::code() const noexcept {
  return by_signal ? exit_code::signalled + number : number;
}

std::string child_status::text() const {
  return by_signal ? fmt::format("killed by signal {} ({})", number, name_of_signal(number))
                   : fmt::format("exit status {}", number);
}

child::child(program const& what) {
  plan how;
  how.paths = candidates(what.words.at(0));
  how.words = what.words;
  how.environment = environment_of(what);
  how.path_pointers = pointers_to(how.paths);
  how.word_pointers = pointers_to(how.words);
  how.environment_pointers = pointers_to(how.environment);
  how.take_terminal = !what.alone && terminal_is_ours();
  how.alone = what.alone;
  how.input = what.input;
  how.output = what.output;
  how.errors = what.errors;
  // Before the child: whatever fails until it is executed, nothing was done.
  start_keeper();
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) {
    int const failed = errno;
    end_keeper();
    no_resources("pipe", failed);
  }
  pid_t const parent = ::getpid();
  {
    quiet const around;
    id_ = ::fork();
    if (id_ == 0) become(how, parent, report[1], keeper_waits_for_);
  }
  int const failed = errno;
  ::close(report[1]);
  if (id_ < 0) {
    ::close(report[0]);
    end_keeper();
    no_resources("fork", failed);
  }
  ::setpgid(id_, id_);  // here too: whoever is first; it fails once the child has called exec
  has_terminal_ = how.take_terminal;
  int problem = 0;
  ssize_t got = 0;
  do {
    got = ::read(report[0], &problem, sizeof problem);
  } while (got < 0 && errno == EINTR);
  ::close(report[0]);
  if (got == static_cast<ssize_t>(sizeof problem)) {
    end_keeper();
    wait_for(id_);
    take_terminal_back();
    not_started(what.words[0], how, problem);
  }
}

void child::start_keeper() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) no_resources("pipe", errno);
  {
    quiet const around;
    keeper_ = ::fork();
    if (keeper_ == 0) keep(ends[0]);
  }
  int const failed = errno;
  ::close(ends[0]);
  keeper_waits_for_ = ends[1];
  if (keeper_ >= 0) return;
  ::close(keeper_waits_for_);
  no_resources("fork", failed);
}

void child::end_keeper() noexcept {
  ::kill(keeper_, SIGKILL);
  wait_for(keeper_);
  ::close(keeper_waits_for_);
}

child::~child() {
  if (!poll()) {
    ::kill(-id_, SIGKILL);
    wait_for(id_);
  }
  // What a successful child has left behind on purpose may stay.
  end_keeper();
  take_terminal_back();
}

void child::send(int signal) const noexcept { ::kill(-id_, signal); }

std::optional<child_status> const& child::poll() noexcept {
  while (!status_) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WSTOPPED | WNOHANG) != 0) {
      if (errno == EINTR) continue;
      status_ = child_status{true, SIGKILL};  // somebody else reaped it; success is not proved
      break;
    }
    if (info.si_pid == 0) break;
    if (info.si_code == CLD_STOPPED) {
      stopped_ = true;
      continue;
    }
    status_ = child_status{info.si_code != CLD_EXITED, info.si_status};
  }
  return status_;
}

int child::open_end() const noexcept {
  // Not by pidfd_open(), which the C library of Debian 12 declares for C only.
  return static_cast<int>(::syscall(SYS_pidfd_open, id_, 0));
}

bool child::group_is_empty() const noexcept { return ::kill(-id_, 0) != 0 && errno == ESRCH; }

void child::give_terminal() noexcept {
  if (!terminal_is_ours()) return;
  set_foreground(id_);
  has_terminal_ = true;
}

void child::take_terminal_back() noexcept {
  if (has_terminal_ && ::tcgetpgrp(STDIN_FILENO) == id_) set_foreground(::getpgrp());
}

}  // namespace command
