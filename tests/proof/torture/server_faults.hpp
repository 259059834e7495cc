// What can happen to a database server: it is killed, restarted, one of its sessions is killed, or
// stopped past the lease and continued.
// Thread safety: one thread at a time.
#pragma once

#include "support/server.hpp"

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace torture {

class server_faults {
 public:
  /// Of the server behind `on`, which is the caller's own.
  server_faults(support::engine const& on, support::private_server const& server);

  /// One at random; the server is there again when it returns. `jump` moves the clock past the
  /// lease. Returns the kind. On failure: throws std::runtime_error, when it does not come back.
  std::string one(std::minstd_rand& dice, std::function<void()> const& jump);
  /// Every kind has happened.
  [[nodiscard]] bool complete() const { return happened_.size() >= kinds_.size(); }

 private:
  using kind = std::string (server_faults::*)(std::minstd_rand&, std::function<void()> const&);

  std::string kill_server(std::minstd_rand& dice, std::function<void()> const& jump);
  std::string stop_at_once(std::minstd_rand& dice, std::function<void()> const& jump);
  std::string restart(std::minstd_rand& dice, std::function<void()> const& jump);
  std::string kill_session(std::minstd_rand& dice, std::function<void()> const& jump);
  std::string pause_session(std::minstd_rand& dice, std::function<void()> const& jump);
  std::string pause_server(std::minstd_rand& dice, std::function<void()> const& jump);
  void wait_until_there() const;
  [[nodiscard]] std::vector<pid_t> sessions() const;

  support::private_server const* server_;
  bool postgres_;
  std::vector<kind> kinds_;
  std::vector<kind> left_;  ///< of this round: each kind comes once before any comes again
  std::vector<std::string> happened_;
};

}  // namespace torture
