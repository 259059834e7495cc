// The random mix at planners: producers that commit late, abort and die; consumers that make passes
// and do the tasks, killed and stopped past a lease that really ends; and a server of its own that
// is killed, restarted and paused. Then the rest is done, and everything checked.
// Thread safety: one thread.
#pragma once

#include "proof/torture/child.hpp"
#include "proof/torture/planners/plans_report.hpp"
#include "proof/torture/server_faults.hpp"
#include "support/engines.hpp"
#include "support/server.hpp"

#include <daybook/book.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace torture {

struct plans_mix_settings {
  std::string worker;
  std::string plans = "all";
  std::chrono::seconds seconds{8};  ///< at least
  int server_faults = 0;
};

class plans_mix {
 public:
  /// `server`: of our own, or nullptr. On failure: throws std::exception.
  plans_mix(plans_mix_settings how, support::engine const& on,
            support::private_server const* server, unsigned seed, plans_report& to);
  void run();

 private:
  struct place {
    std::string role;
    std::unique_ptr<child> who;
    std::optional<std::chrono::steady_clock::time_point> wakes = {};
  };

  int up_to(int most) { return std::uniform_int_distribution<int>(0, most)(dice_); }
  [[nodiscard]] std::unique_ptr<child> start(std::string const& role);
  void tend();
  void strike();
  void sweep_once_more();
  void drain();

  plans_mix_settings how_;
  plans_report* report_;
  std::minstd_rand dice_;
  support::fresh_database database_;
  daybook::book book_;
  std::string dialect_;
  std::unique_ptr<server_faults> hurts_;
  std::vector<place> producers_;
  std::vector<place> consumers_;
};

}  // namespace torture
