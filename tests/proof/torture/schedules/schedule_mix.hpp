// The mix of schedules: nodes killed, stopped, cut and with wrong clocks, people who interfere, a
// server that is hurt and then away for ten leases; all with the real clock.
// Thread safety: one thread.
#pragma once

#include "proof/torture/child.hpp"
#include "proof/torture/schedules/schedule_report.hpp"
#include "proof/torture/server_faults.hpp"
#include "support/engines.hpp"

#include <daybook/book.hpp>
#include <daybook/time.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace torture {

struct schedule_mix_settings {
  std::string worker;
  int nodes = 5;
  int schedules = 12;
  std::chrono::seconds seconds{8};  ///< of faults, before the outage
};

class schedule_mix {
 public:
  /// `server`: of our own, to be hurt; null where the engine has none.
  schedule_mix(schedule_mix_settings how, support::engine const& on,
               support::private_server const* server, unsigned seed, schedule_report& to);
  schedule_mix(schedule_mix const&) = delete;
  schedule_mix& operator=(schedule_mix const&) = delete;

  void run();

 private:
  using instant = std::chrono::steady_clock::time_point;
  struct process {
    std::unique_ptr<child> who;
    std::optional<instant> wakes;  ///< of one that is stopped
  };

  void make_schedules();
  /// `healthy`: with no failpoint.
  void start(std::size_t at, bool healthy);
  [[nodiscard]] environment any_failpoint();
  [[nodiscard]] environment any_clock();
  void strike_for(std::chrono::milliseconds how_long);
  void strike();
  void interfere();
  /// Starts those anew that have ended, wakes those that have slept enough.
  void tend();
  void outage();
  void expect_ticks();
  void heal();
  void end_expressions();
  void drain();
  void check();
  /// Until the count that the statement gives is 0. False: not in time.
  bool comes_to_none(std::string const& statement);
  /// A person tries again, too.
  template <class F>
  void persistently(F const& what);
  /// No fault, or none that is known to have struck.
  void beside(std::string const& what) { ++beside_[what]; }
  [[nodiscard]] std::int64_t now_us() const;
  [[nodiscard]] std::chrono::milliseconds some_leases(int most);

  schedule_mix_settings how_;
  support::private_server const* server_;
  schedule_report* report_;
  std::minstd_rand dice_;
  support::fresh_database database_;
  daybook::book book_;
  std::string dialect_;
  std::unique_ptr<server_faults> hurts_;
  std::map<std::string, daybook::timestamp> since_;
  std::vector<process> nodes_;
  std::map<std::string, int> beside_;
  std::size_t next_clock_ = 0;  ///< each comes before any comes again
};

}  // namespace torture
