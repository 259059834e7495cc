#include "process/child.hpp"

#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "process/inherited.hpp"
#include "process/reaper.hpp"
#include "process/signals.hpp"

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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace command {

/// Everything that exec needs, made before fork: the child must not allocate.
struct plan {
  std::vector<std::string> paths, words, environment;
  std::vector<char*> path_pointers, word_pointers, environment_pointers;
  bool take_terminal = false;
  bool alone = false;
  int input = -1;
  int output = -1;
  int errors = -1;
  int report = -1;  ///< where to tell why nothing was executed
};

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

std::vector<std::string> environment_of(program const& program) {
  std::vector<std::string> out;
  for (char** one = environ; *one != nullptr; ++one) {
    std::string_view const entry = *one;
    auto const name = entry.substr(0, entry.find('='));
    bool const replaced = std::any_of(program.environment.begin(), program.environment.end(),
                                      [&](auto const& ours) { return ours.first == name; });
    bool const hidden =
        std::find(program.hidden.begin(), program.hidden.end(), name) != program.hidden.end();
    if (!replaced && !hidden) out.emplace_back(entry);
  }
  for (auto const& [name, value] : program.environment) out.push_back(name + "=" + value);
  return out;
}

[[noreturn]] void give_up(plan const& plan, int problem) noexcept {
  [[maybe_unused]] auto const written = ::write(plan.report, &problem, sizeof problem);
  ::_exit(exit_code::not_found);
}

/// In the child of the reaper: only what a signal handler may call.
[[noreturn]] void become(plan const& plan, pid_t reaper) noexcept {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != reaper) give_up(plan, ECHILD);  // it died before the line above
  int problem = ENOENT;
  if (plan.take_terminal) ::tcsetpgrp(STDIN_FILENO, ::getpid());
  restore_signals_in_child();
  close_own_files_at_exec();
  if (plan.alone) ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  if (plan.input >= 0) ::dup2(plan.input, STDIN_FILENO);
  if (plan.output >= 0) ::dup2(plan.output, STDOUT_FILENO);
  if (plan.errors >= 0) ::dup2(plan.errors, STDERR_FILENO);
  for (char* const* path = plan.path_pointers.data(); *path != nullptr; ++path) {
    // execve, not execvp: that would hand a file without a "#!" line to a shell.
    ::execve(*path, plan.word_pointers.data(), plan.environment_pointers.data());
    if (errno == ENOENT || errno == ENOTDIR) continue;
    problem = errno;
    if (errno != EACCES) break;
  }
  give_up(plan, problem);
}

void start(void const* argument, pid_t reaper) noexcept {
  become(*static_cast<plan const*>(argument), reaper);
}

[[noreturn]] void not_started(std::string const& word, plan const& plan, int problem) {
  auto const name = printable(word);
  if (problem == ENOENT) {
    auto const there = std::find_if(plan.paths.begin(), plan.paths.end(), [](auto const& path) {
      return ::access(path.c_str(), F_OK) == 0;
    });
    if (there == plan.paths.end()) {
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

[[noreturn]] void no_resources(char const* reason, int problem) {
  throw complaint(exit_code::cannot_execute,
                  fmt::format("cannot start a command: {}: {}", reason, std::strerror(problem)));
}

}  // namespace

std::string why_not_started(std::string const& word) {
  std::string out = "command not found";
  for (auto const& path : candidates(word)) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) continue;
    if (!S_ISREG(found.st_mode)) {
      out = fmt::format("{} is no file", printable(path));
    } else if (::access(path.c_str(), X_OK) == 0) {
      return {};
    } else {
      out = fmt::format("{} is not executable", printable(path));
    }
  }
  return out;
}

int child_status::code() const noexcept {
  return by_signal ? exit_code::signalled + number : number;
}

std::string child_status::text() const {
  return by_signal ? fmt::format("killed by signal {} ({})", number, name_of_signal(number))
                   : fmt::format("exit status {}", number);
}

child::child(program const& program) {
  plan plan;
  plan.paths = candidates(program.words.at(0));
  plan.words = program.words;
  plan.environment = environment_of(program);
  plan.path_pointers = pointers_to(plan.paths);
  plan.word_pointers = pointers_to(plan.words);
  plan.environment_pointers = pointers_to(plan.environment);
  plan.take_terminal = !program.alone && terminal_is_ours();
  plan.alone = program.alone;
  plan.input = program.input;
  plan.output = program.output;
  plan.errors = program.errors;
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) no_resources("pipe", errno);
  plan.report = report[1];
  int const failed = start_keeper(plan);
  ::close(report[1]);
  if (failed != 0) {
    ::close(report[0]);
    no_resources("fork", failed);
  }
  has_terminal_ = plan.take_terminal;
  int problem = 0;
  ssize_t got = 0;
  do {
    got = ::read(report[0], &problem, sizeof problem);
  } while (got < 0 && errno == EINTR);
  ::close(report[0]);
  if (got == static_cast<ssize_t>(sizeof problem)) {
    end_keeper();
    take_terminal_back();
    not_started(program.words[0], plan, problem);
  }
}

int child::start_keeper(plan const& plan) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return errno;
  {
    quiet const around;
    keeper_ = ::fork();
    if (keeper_ == 0) keep(ends[1], start, &plan);
  }
  int const failed = errno;
  ::close(ends[1]);
  to_keeper_ = ends[0];
  if (keeper_ < 0) {
    ::close(to_keeper_);
    return failed;
  }
  reaper_report first{reaper_report::what::not_started, ECHILD};
  ssize_t got = 0;
  do {
    got = ::recv(to_keeper_, &first, sizeof first, 0);
  } while (got < 0 && errno == EINTR);
  if (first.kind != reaper_report::what::started) {
    end_keeper();
    return first.number;
  }
  id_ = first.number;
  return 0;
}

void child::end_keeper() noexcept {
  ::close(to_keeper_);
  wait_for(keeper_);
}

child::~child() {
  // A successful child may leave processes behind on purpose. All others end with the reaper.
  if (poll()) order(reaper_order::what::leave);
  end_keeper();
  take_terminal_back();
}

void child::order(reaper_order::what kind, int number) const noexcept {
  reaper_order const out{kind, number};
  while (::send(to_keeper_, &out, sizeof out, MSG_NOSIGNAL) < 0 && errno == EINTR) continue;
}

void child::send(int signal) const noexcept {
  if (status_) {
    order(reaper_order::what::signal, signal);
  } else {
    ::kill(-id_, signal);
  }
}

void child::end() const noexcept {
  send(SIGTERM);
  send(SIGCONT);  // one that is stopped gets no TERM
  order(reaper_order::what::end);
}

void child::kill() const noexcept {
  send(SIGKILL);
  order(reaper_order::what::kill);
}

std::optional<child_status> const& child::poll() noexcept {
  for (reaper_report news; hear(news);) {
    switch (news.kind) {
      case reaper_report::what::stopped: stopped_ = true; break;
      case reaper_report::what::exited:
      case reaper_report::what::signalled:
        status_ = child_status{news.kind == reaper_report::what::signalled, news.number};
        order(reaper_order::what::reap);
        break;
      case reaper_report::what::nothing_left: nothing_left_ = true; break;
      case reaper_report::what::started:
      case reaper_report::what::not_started: break;
    }
  }
  return status_;
}

bool child::hear(reaper_report& news) noexcept {
  for (;;) {
    auto const got = ::recv(to_keeper_, &news, sizeof news, MSG_DONTWAIT);
    if (got == static_cast<ssize_t>(sizeof news)) return true;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return false;
    // Somebody has killed the reaper, and with it the child; success is not proved.
    if (!status_) status_ = child_status{true, SIGKILL};
    nothing_left_ = true;
    return false;
  }
}

int child::open_news() const noexcept { return ::fcntl(to_keeper_, F_DUPFD_CLOEXEC, 0); }

bool child::nothing_left() noexcept {
  static_cast<void>(poll());
  return nothing_left_;
}

void child::give_terminal() noexcept {
  if (!terminal_is_ours()) return;
  set_foreground(id_);
  has_terminal_ = true;
}

void child::take_terminal_back() noexcept {
  if (has_terminal_ && ::tcgetpgrp(STDIN_FILENO) == id_) set_foreground(::getpgrp());
}

}  // namespace command
