// The trials: one failpoint and what it does, then the recovery, then the check.
#pragma once

#include "support/engines.hpp"
#include "torture/child.hpp"
#include "torture/report.hpp"

#include <daybook/book.hpp>
#include <daybook/testing.hpp>

#include <chrono>
#include <random>
#include <string>
#include <vector>

namespace torture {

/// Which of its places a failpoint is hit at: at which step, or after which lost reply.
[[nodiscard]] unsigned variants_of(std::string const& failpoint);

/// A database with its book, for trials one after the other.
class lane {
 public:
  lane(support::engine const& on, std::string worker, report& to, bool real_clock = false);

  /// One failpoint, one action. On failure of the test itself: throws std::exception.
  void one(std::string const& failpoint, std::string const& action, unsigned variant,
           std::minstd_rand& dice);
  /// SIGSTOP past the lease by the real clock.
  void real_stop(std::string const& failpoint, unsigned skip);
  /// Several workers at a few keys, `faults` random faults among them.
  void mix(int workers, int faults, std::minstd_rand& dice);

 private:
  struct trial {
    std::string name;  ///< for people
    std::string failpoint;
    std::string action;
    std::string key;
    std::string prefix = "daybook_";
    environment armed;
    std::string source;         ///< where the doubt comes from; for the resolution's failpoints
    bool no_step_left = false;  ///< for an heir, when the failpoint has acted
  };

  trial prepare(std::string const& failpoint, std::string const& action, unsigned variant,
                std::minstd_rand& dice);
  void bury_a_holder(trial const& of);
  void ends_by_itself(trial const& of);
  void killed(trial const& of);
  void stopped(trial const& of);
  void stopped_while_writing(trial const& of, std::minstd_rand& dice);
  void finish(trial const& of);
  [[nodiscard]] std::vector<std::string> words(trial const& of,
                                               std::vector<std::string> const& more = {}) const;
  [[nodiscard]] bool writes_alone(std::string const& failpoint) const;
  void past_the_lease(trial const& of);
  void settle(trial const& of, std::vector<std::string> more = {});
  void fail(trial const& of, std::string const& what, child const& who);
  void drain(std::string const& keys, int how_many);
  void count_tally(std::string const& file);

  std::string worker_;
  report* report_;
  support::fresh_database database_;
  daybook::book book_;
  std::string dialect_;
  int number_ = 0;
};

}  // namespace torture
