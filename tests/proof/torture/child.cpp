#include "proof/torture/child.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace torture {

namespace {

constexpr std::string_view mutant_variable = "DAYBOOK_MUTANT_OF_WORKERS=";

/// The driver's own variables, but for those that arm failpoints. A rule is left out by workers
/// only: the driver's own library judges them.
std::vector<std::string> merged(environment const& more) {
  std::vector<std::string> out;
  for (char** at = environ; *at != nullptr; ++at) {
    std::string const one = *at;
    if (!one.starts_with("DAYBOOK_FAILPOINT=") && !one.starts_with(then_variable)) {
      out.push_back(one);
    }
    if (one.starts_with(mutant_variable)) {
      out.push_back("DAYBOOK_MUTANT=" + one.substr(mutant_variable.size()));
    }
  }
  for (auto const& [name, text] : more) out.push_back(name + "=" + text);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& to) {
  std::vector<char*> out;
  for (auto& one : to) out.push_back(one.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

std::string child::change::text() const {
  switch (what) {
    case state::exited: return "ended with code " + std::to_string(code);
    case state::killed: return "was killed by signal " + std::to_string(code);
    case state::stopped: return "was stopped by signal " + std::to_string(code);
    case state::silent: return "did not change in time";
  }
  return {};
}

child::child(std::vector<std::string> const& words, environment const& more)
    : errors_(::memfd_create("stderr", MFD_CLOEXEC)) {
  auto arguments = words;
  auto variables = merged(more);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, errors_, STDERR_FILENO);
  int const code = ::posix_spawn(&id_, arguments[0].c_str(), &actions, nullptr,
                                 pointers(arguments).data(), pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (code != 0) {
    ::close(errors_);
    throw std::runtime_error(arguments[0] + ": " + std::strerror(code));
  }
}

child::~child() {
  if (!over_) {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  ::close(errors_);
}

child::change child::wait(std::chrono::milliseconds patience) {
  if (over_) return last_;
  auto const until = std::chrono::steady_clock::now() + patience;
  auto pause = std::chrono::microseconds(200);
  for (;;) {
    int status = 0;
    if (::waitpid(id_, &status, WNOHANG | WUNTRACED) == id_) {
      if (WIFSTOPPED(status)) return {state::stopped, WSTOPSIG(status)};
      over_ = true;
      last_ = WIFEXITED(status) ? change{state::exited, WEXITSTATUS(status)}
                                : change{state::killed, WTERMSIG(status)};
      return last_;
    }
    if (std::chrono::steady_clock::now() >= until) return {};
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(4000));
  }
}

void child::send(int signal) const {
  if (!over_) ::kill(id_, signal);
}

void child::go_on() const { send(SIGCONT); }

std::string child::words() const {
  std::array<char, 2000> text{};
  auto const size = ::pread(errors_, text.data(), text.size(), 0);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

unharmed run_unharmed(std::function<std::unique_ptr<child>()> const& start,
                      std::chrono::milliseconds patience) {
  unharmed out;
  for (int tries = 0; tries < 3; ++tries) {
    out.who = start();
    out.came = out.who->wait(patience);
    bool const refused = out.came.is(ending::error) &&
                         out.who->words().find(": no answer within ") != std::string::npos;
    if (!refused) break;
  }
  return out;
}

}  // namespace torture
