#include "support/server.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace support {

namespace {

using namespace std::chrono_literals;

std::string contents(std::filesystem::path const& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The state of a process or thread, the field after "(name)" in its stat; 'X' where it is none.
char state_of(std::filesystem::path const& process) {
  auto const line = contents(process / "stat");
  auto const name_end = line.rfind(") ");
  return name_end == std::string::npos ? 'X' : line[name_end + 2];
}

/// The field after its state.
pid_t parent_of(std::filesystem::path const& process) {
  auto const line = contents(process / "stat");
  auto const name_end = line.rfind(") ");
  if (name_end == std::string::npos || name_end + 4 >= line.size()) return 0;
  return static_cast<pid_t>(std::atoi(line.c_str() + name_end + 4));
}

bool is_over(char state) { return state == 'Z' || state == 'X'; }

/// None of its threads runs; also where it has ended.
bool stands_still(pid_t which) {
  std::error_code gone;
  std::filesystem::directory_iterator thread("/proc/" + std::to_string(which) + "/task", gone);
  for (; !gone && thread != std::filesystem::directory_iterator(); thread.increment(gone)) {
    if (auto const state = state_of(thread->path()); state != 'T' && !is_over(state)) return false;
  }
  return true;
}

void run(std::string const& command) {
  if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
}

std::string servers(std::string const& verb, std::string const& folder) {
  return std::string(DAYBOOK_SERVERS) + " " + verb + " '" + folder + "'";
}

}  // namespace

std::uint16_t port_of(std::string const& url) {
  return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
}

pid_t process_of(std::string const& pidfile) {
  pid_t first = 0;
  if (!(std::ifstream(pidfile) >> first)) {
    throw std::runtime_error(pidfile + " names no process: start the servers by tests/servers");
  }
  return first;
}

std::vector<pid_t> children_of(pid_t parent, std::string const& title) {
  std::vector<pid_t> out;
  for (auto const& entry : std::filesystem::directory_iterator("/proc")) {
    auto const id = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
    if (id <= 0 || parent_of(entry.path()) != parent) continue;
    if (contents(entry.path() / "cmdline").find(title) != std::string::npos) out.push_back(id);
  }
  return out;
}

bool is_dead(pid_t which) { return is_over(state_of("/proc/" + std::to_string(which))); }

std::vector<pid_t> processes_of(engine const& on) {
  char const* const pidfile = std::getenv((on.environment + "_PIDFILE").c_str());
  auto const first = process_of(pidfile == nullptr ? "" : pidfile);
  // The first is stopped before its children, so that it makes no more of them.
  std::vector<pid_t> out{first};
  for (auto const one : children_of(first)) out.push_back(one);
  return out;
}

stopped::stopped(std::vector<pid_t> processes) : processes_(std::move(processes)) {
  for (auto const one : processes_) ::kill(one, SIGSTOP);
  // Linux tells one thread, which tells the others when it is given a processor; until then a
  // server answers. One that waits for a disk stops after it.
  auto const until = std::chrono::steady_clock::now() + 10s;
  for (auto const one : processes_) {
    while (!stands_still(one) && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(1ms);
    }
  }
}

stopped::~stopped() {
  for (auto const one : processes_) ::kill(one, SIGCONT);
}

private_server::private_server(engine on, std::string const& room) : on_(std::move(on)) {
  std::string name = "/tmp/daybook-own.XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder in /tmp");
  folder_ = name;
  if (!room.empty() && ::mount("tmpfs", name.c_str(), "tmpfs", 0, ("size=" + room).c_str()) != 0) {
    int const why = errno;
    ::rmdir(name.c_str());
    throw std::system_error(why, std::generic_category(), "a tmpfs for the server");
  }
  ::chmod(name.c_str(), 0755);
  guard(room.empty() ? "true" : "umount '" + folder_ + "'");
  try {
    start();
  } catch (...) {
    end();
    throw;
  }
}

/// A shell that waits for our end, however it comes, and clears away.
void private_server::guard(std::string const& afterwards) {
  std::array<int, 2> both{};
  if (::pipe2(both.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  auto script =
      "cat; " + servers("stop", folder_) + "; " + afterwards + "; rm -rf '" + folder_ + "'";
  ::posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, both[0], STDIN_FILENO);
  for (int const output : {STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
  }
  ::posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::array<std::string, 2> words{"/bin/sh", "-c"};
  std::array<char*, 4> const line{words[0].data(), words[1].data(), script.data(), nullptr};
  int const code =
      ::posix_spawn(&guardian_, "/bin/sh", &actions, &attributes, line.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(both[0]);
  alive_ = both[1];
  if (code != 0) throw std::runtime_error("no guardian for the server");
}

/// Its name in tests/servers.
std::string private_server::database() const {
  if (on_.name == "mariadb_snapshot") return "mariadb-snapshot";
  return on_.name == "mariadb" || on_.name == "mysql" ? on_.name : "postgresql";
}

void private_server::start() {
  auto const only = on_.name == "mariadb_snapshot" ? std::string("mariadb") : on_.name;
  run(servers("start", folder_) + " --only " + only + " >/dev/null");
  std::ifstream in(folder_ + "/env");
  for (std::string line; std::getline(in, line);) {
    // export NAME='VALUE'
    auto const equals = line.find('=');
    auto const name = line.substr(7, equals - 7);
    variables_[name] = line.substr(equals + 2, line.size() - equals - 3);
  }
}

private_server::~private_server() { end(); }

void private_server::end() noexcept {
  ::close(std::exchange(alive_, -1));
  if (guardian_ > 0) ::waitpid(std::exchange(guardian_, 0), nullptr, 0);
}

void private_server::use_for_tests() const {
  for (auto const& [name, text] : variables_) ::setenv(name.c_str(), text.c_str(), 1);
}

pid_t private_server::process() const {
  return process_of(folder_ + "/" + database() + "/process");
}

void private_server::restart() const {
  run(servers("restart", folder_) + " " + database() + " >/dev/null 2>&1");
}

}  // namespace support
