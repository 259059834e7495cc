#include "benchmarks/queue/daemon_drain.hpp"

#include "benchmarks/queue/tasks.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

namespace {

/// A file that is removed at the end.
class config {
 public:
  explicit config(std::string const& text)
      : path_(std::filesystem::temp_directory_path() /
              ("daybook_bench_" + std::to_string(::getpid()) + ".toml")) {
    std::ofstream(path_) << text;
  }
  config(config const&) = delete;
  config& operator=(config const&) = delete;
  ~config() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// Its exit code; what it logs is thrown away.
int run(std::string const& daybook, std::string const& file) {
  auto const process = ::fork();
  if (process < 0) throw std::runtime_error("no process");
  if (process == 0) {
    ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
    ::execl(daybook.c_str(), daybook.c_str(), "daemon", "--config", file.c_str(), "--drain",
            nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// What stands between these two in a line of JSON, none of whose values has a quote within.
std::string_view between(std::string_view line, std::string_view from, std::string_view to) {
  auto const start = line.find(from);
  if (start == std::string_view::npos) throw std::runtime_error("no task: " + std::string(line));
  line.remove_prefix(start + from.size());
  return line.substr(0, line.find(to));
}

/// As it stands within a text in JSON.
std::string in_json(std::string_view text) {
  std::string out;
  for (char const one : text) {
    if (one == '"') out += '\\';
    out += one;
  }
  return out;
}

}  // namespace

amount drain_by_daemon(std::string const& daybook, std::string const& database_url,
                       order const& how) {
  auto const self = std::filesystem::read_symlink("/proc/self/exe").string();
  config const file("database = '" + database_url + "'\n[[queue]]\nname = 'bench'\nattempts = 1\n" +
                    "batch = " + std::to_string(how.batch) + "\nworkers = " +
                    std::to_string(how.workers) + "\ncommand = ['" + self + "', '--child']\n");
  auto const start = std::chrono::steady_clock::now();
  auto const code = run(daybook, file.path());
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
  // 1: of the tasks, some are dead, as they are meant to be.
  if (code != 0 && code != 1)
    throw std::runtime_error("the daemon ended with " + std::to_string(code));
  return {took.count(), how.most};
}

int answer_tasks() {
  std::ios::sync_with_stdio(false);
  std::string const head = "invoice/";
  for (std::string line; std::getline(std::cin, line);) {
    std::string const key(between(line, R"("key":")", "\""));
    auto const id = std::stol(key.substr(head.size()));
    if (line.find(in_json(payload_of(id))) == std::string::npos) {
      throw std::runtime_error("task " + key + " came with another's payload");
    }
    std::cout << R"({"key":")" << key;
    if (fails(id)) {
      std::cout << R"(","result":"failure","remark":")" << remark << "\"}\n";
    } else {
      std::cout << "\",\"result\":\"success\"}\n";
    }
  }
  std::cout.flush();
  return 0;
}

}  // namespace bench
