// The trials of aggregations: one failpoint and what it does, the recovery, the check; sums that
// have no room.
// Thread safety: one thread.
#pragma once

#include "proof/stories/bricks.hpp"
#include "proof/torture/aggregations/aggregate_report.hpp"
#include "proof/torture/child.hpp"
#include "support/engines.hpp"

#include <daybook/book.hpp>
#include <daybook/testing.hpp>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace torture {

/// Every failpoint that a worker at aggregations passes on this engine.
[[nodiscard]] std::vector<std::string> aggregate_failpoints(std::string_view dialect);

struct aggregate_trial {
  std::string failpoint;
  std::string action;
  int skip = -1;  ///< so many hits pass; below 0: now and then some
};

/// A database with its book and the two tables, for trials one after the other.
class aggregate_lane {
 public:
  aggregate_lane(support::engine const& on, std::string worker, aggregate_report& to);

  [[nodiscard]] std::string const& dialect() const noexcept { return dialect_; }
  /// On failure of the test itself, both: throws std::exception.
  void one(aggregate_trial const& of, std::minstd_rand& dice);
  /// A group whose sum has no room in its parent: refused and untouched, whatever happens to those
  /// beside it (A3).
  void overflow(aggregate_trial const& of, std::minstd_rand& dice);

 private:
  struct prepared {
    std::string name;
    environment armed;
    std::vector<std::string> way;  ///< what the worker does
  };
  prepared prepare(aggregate_trial const& of, std::minstd_rand& dice);
  [[nodiscard]] std::vector<std::string> words(std::vector<std::string> const& more) const;
  void move_bricks(int first_worker, int workers, int moves, std::minstd_rand& dice);
  void move_brick(int worker, std::int64_t number);
  [[nodiscard]] bool acted(aggregate_trial const& of, std::string const& name, child& who);
  void stopped(aggregate_trial const& of, prepared const& with, child& who, std::minstd_rand& dice);
  void drain(std::string const& name, std::vector<std::string> const& how);
  void fail(std::string const& name, std::string const& what, child const& who);
  [[nodiscard]] std::string untouched();

  std::string worker_;
  aggregate_report* report_;
  support::fresh_database database_;
  daybook::book book_;
  std::string dialect_;
  bricks::checker checker_;
  bricks::carried carried_;
  std::int64_t no_room_ = 0;  ///< how many bricks wait for room
  int number_ = 0;
  int moves_ = 0;
};

}  // namespace torture
