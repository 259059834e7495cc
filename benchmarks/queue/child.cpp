#include "benchmarks/queue/child.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

child::child(std::vector<std::string> const& words, std::string const& database_url)
    : name_(words.at(1) + " " + words.at(2)) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  // Closed on exec, or one child would keep the other's input open.
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  std::vector<char*> arguments;
  for (auto const& one : words) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error("no process");
  if (process_ == 0) {
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::setenv("DATABASE_URL", database_url.c_str(), 1);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  to_ = ::fdopen(in[1], "w");
  from_ = ::fdopen(out[0], "r");
  while (line() != "ready") {
  }
}

child::~child() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  std::fclose(to_);
  std::fclose(from_);
}

std::string child::line() {
  std::string out;
  for (int c = 0; (c = std::fgetc(from_)) != '\n';) {
    if (c == EOF) throw std::runtime_error(name_ + " has ended");
    out.push_back(static_cast<char>(c));
  }
  return out;
}

void child::go() {
  std::fputs("go\n", to_);
  std::fflush(to_);
}

std::vector<double> child::answer() {
  for (;;) {
    std::istringstream in(line());
    std::string word;
    if (!(in >> word) || word != "answer") continue;
    std::vector<double> out;
    for (double one = 0; in >> one;) out.push_back(one);
    return out;
  }
}

void child::wait() {
  int status = 0;
  ::waitpid(process_, &status, 0);
  process_ = -1;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(name_ + " failed");
  }
}

}  // namespace bench
