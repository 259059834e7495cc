// The directed trials of schedules: one failpoint and what it does, the recovery, the check.
// Thread safety: one thread a lane.
#pragma once

#include "proof/torture/child.hpp"
#include "proof/torture/schedules/schedule_report.hpp"
#include "support/engines.hpp"

#include <daybook/book.hpp>

#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace torture {

/// A failpoint that a worker at schedules passes.
struct schedule_place {
  std::string failpoint;
  std::optional<unsigned> skip = {};  ///< so many hits pass; empty: now and then some
};

[[nodiscard]] std::vector<schedule_place> schedule_places();

/// A database with its book, whose clock moves by hand, for trials one after the other.
class schedule_lane {
 public:
  schedule_lane(support::engine const& on, std::string worker, schedule_report& to);
  schedule_lane(schedule_lane const&) = delete;
  schedule_lane& operator=(schedule_lane const&) = delete;

  void one(schedule_place const& at, std::string const& action, std::minstd_rand& dice);
  /// A hundred ticks of which ten are kept, by workers that are killed among them.
  void prune(int kills, std::minstd_rand& dice);

 private:
  struct trial {
    std::string name;
    std::string schedule;
    std::string failpoint;
    std::string action;
  };

  [[nodiscard]] std::vector<std::string> words(std::string const& schedule,
                                               std::vector<std::string> const& more) const;
  [[nodiscard]] bool writes_alone(std::string const& failpoint) const;
  void past_the_lease();
  void stopped(trial const& of, child& worker, std::minstd_rand& dice);
  void settle(trial const& of, std::vector<std::string> const& more);
  void look(trial const& of, bool pruned);
  void fail(trial const& of, std::string const& what, child const& who);

  std::string worker_;
  schedule_report* report_;
  support::fresh_database database_;
  daybook::book book_;
  std::string dialect_;
  int number_ = 0;
};

}  // namespace torture
