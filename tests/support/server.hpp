// The processes of a server: stopped, continued, killed. And a server of a test's own, which may
// be hurt without hurting other tests.
// Thread safety: one thread at a time.
#pragma once

#include "support/engines.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace support {

/// The port of a URL that has one.
[[nodiscard]] std::uint16_t port_of(std::string const& url);

/// The first word of a pidfile of tests/servers. On failure: throws std::runtime_error.
[[nodiscard]] pid_t process_of(std::string const& pidfile);
/// Its children whose command line has `title` in it.
[[nodiscard]] std::vector<pid_t> children_of(pid_t parent, std::string const& title = {});
/// It has ended, collected or not.
[[nodiscard]] bool is_dead(pid_t which);
/// The whole server of an engine: what its ..._PIDFILE variable names, and the children.
[[nodiscard]] std::vector<pid_t> processes_of(engine const& on);

/// Stopped (SIGSTOP) while it lives: none of their threads runs any more when the constructor has
/// ended, but where one waits for a disk longer than ten seconds.
class stopped {
 public:
  explicit stopped(std::vector<pid_t> processes);
  stopped(stopped const&) = delete;
  stopped& operator=(stopped const&) = delete;
  ~stopped();

 private:
  std::vector<pid_t> processes_;
};

/// Servers as for `engine`, in a folder of their own. They end with this object, and also when this
/// process is killed.
class private_server {
 public:
  /// `room`: the size of a tmpfs that holds everything, as mount(8) writes it; empty: none.
  /// On failure: throws std::system_error where a tmpfs is not permitted, else std::runtime_error.
  explicit private_server(engine on, std::string const& room = {});
  private_server(private_server const&) = delete;
  private_server& operator=(private_server const&) = delete;
  ~private_server();

  /// Leads support::fresh_database here.
  void use_for_tests() const;
  [[nodiscard]] std::string const& folder() const noexcept { return folder_; }
  [[nodiscard]] std::string url() const { return variables_.at(on_.environment); }
  /// As the user that may do everything.
  [[nodiscard]] std::string admin_url() const { return variables_.at(on_.environment + "_ADMIN"); }
  /// PostgreSQL's also where the engine is PgBouncer, which only stands before it.
  [[nodiscard]] pid_t process() const;
  /// Same data, same port; whatever state it is in. On failure: throws std::runtime_error.
  void restart() const;

 private:
  void start();
  void end() noexcept;
  void guard(std::string const& afterwards);
  [[nodiscard]] std::string database() const;

  engine on_;
  std::string folder_;
  std::map<std::string, std::string> variables_;
  pid_t guardian_ = 0;
  int alive_ = -1;  ///< the guardian's sign that we are
};

}  // namespace support
