#include "benchmarks/queue/meter.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace bench {

namespace {

struct ticks {
  long own = 0;
  long children = 0;  ///< of those that have ended and were waited for
};

/// Nothing where the process has gone.
std::optional<ticks> ticks_of(long process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  // Its name, in brackets, may hold blanks. After it the state is field 3; utime is field 14.
  std::istringstream rest(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) rest >> skipped;
  long user = 0;
  long system = 0;
  long ended_user = 0;
  long ended_system = 0;
  rest >> user >> system >> ended_user >> ended_system;
  return ticks{user + system, ended_user + ended_system};
}

std::vector<long> children_of(long process) {
  auto const of = std::to_string(process);
  std::ifstream in("/proc/" + of + "/task/" + of + "/children");
  std::vector<long> out;
  for (long one = 0; in >> one;) out.push_back(one);
  return out;
}

/// PostgreSQL's sessions are children of the process, and once they have ended the process keeps
/// their time. One that ends while we look would be missed or counted twice: then look again.
double server_us(long process) {
  auto const tick = 1e6 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  for (;;) {
    auto const before = ticks_of(process);
    if (!before) throw std::runtime_error("the server has ended");
    long all = before->own + before->children;
    for (auto const child : children_of(process)) {
      auto const of = ticks_of(child);
      if (of) all += of->own + of->children;
    }
    auto const after = ticks_of(process);
    if (after && after->children == before->children) return static_cast<double>(all) * tick;
  }
}

double client_us() {
  double out = 0;
  for (auto const who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    ::rusage used{};
    ::getrusage(who, &used);
    for (auto const& of : {used.ru_utime, used.ru_stime}) {
      out += static_cast<double>(of.tv_sec) * 1e6 + static_cast<double>(of.tv_usec);
    }
  }
  return out;
}

double written_bytes() {
  std::ifstream in("/proc/self/io");
  for (std::string name; in >> name;) {
    double value = 0;
    in >> value;
    if (name == "wchar:") return value;
  }
  return 0;
}

}  // namespace

meter::meter(support::engine const& on, support::fresh_database const& database) : on_(on) {
  if (on.name == "sqlite") return;
  auto const name = on.environment + "_PIDFILE";
  char const* const file = std::getenv(name.c_str());
  if (file == nullptr) throw std::runtime_error(name + " is not set: see tests/servers/servers");
  std::ifstream(file) >> server_;
  counter_.emplace(on, database);
}

cost meter::processors() const {
  return {.server_us = server_ == 0 ? 0 : server_us(server_), .client_us = client_us()};
}

void meter::begin() {
  counts const counted = counter_ ? counter_->now() : counts{};
  before_ = processors();
  before_.statements = counted.statements;
  before_.commits = counted.commits;
  before_.log_bytes = counter_ ? counted.log_bytes : written_bytes();
  before_.buffers = counted.buffers;
  before_.rows = counted.rows;
}

cost meter::end() {
  auto out = processors();
  counts const counted = counter_ ? counter_->now() : counts{};
  out.server_us -= before_.server_us;
  out.client_us -= before_.client_us;
  out.statements = counted.statements - before_.statements;
  out.commits = counted.commits - before_.commits;
  out.log_bytes = (counter_ ? counted.log_bytes : written_bytes()) - before_.log_bytes;
  out.buffers = counted.buffers - before_.buffers;
  out.rows = counted.rows - before_.rows;
  return out;
}

void meter::begin_connected() {
  before_ = processors();
  before_.statements = counter_ ? counter_->statements() : 0;
}

cost meter::end_connected() {
  auto out = processors();
  out.server_us -= before_.server_us;
  out.client_us -= before_.client_us;
  out.statements = (counter_ ? counter_->statements() : 0) - before_.statements;
  return out;
}

}  // namespace bench
