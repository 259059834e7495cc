// The book's own tables as they are, read with SQL of the test's own; and whether they say what the
// naive model says.
// Thread safety: one thread.
#pragma once

#include "naive.hpp"

#include "support/engines.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace model {

/// What the book says of all ids in [lo, hi).
struct covering {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  int lane = 0;
  int state = 0;
  int attempts = 0;
  int crashes = 0;
  us turn = 0;
  us due = 0;
  bool claimed = false;
};

struct picture {
  std::map<std::string, std::int64_t> members;
  std::vector<covering> covered;  ///< segments and the ranges of claims, in the order of lo
  int segments = 0;
  int claims = 0;
};

class tables {
 public:
  explicit tables(support::fresh_database const& of) : on_(of.url()) {}

  [[nodiscard]] std::int64_t id_of(std::string const& queue);
  [[nodiscard]] std::map<std::string, std::int64_t> members(std::int64_t queue);
  [[nodiscard]] picture look(std::int64_t queue);
  /// How many ids the segments cover, with a member or without.
  [[nodiscard]] std::int64_t covered_ids(std::int64_t queue);
  /// What people asked for and nobody has attended to.
  [[nodiscard]] std::int64_t requests(std::int64_t queue);
  /// How many ids are in claims, with a member or without.
  [[nodiscard]] std::int64_t running_ids(std::int64_t queue);
  /// Until when the starts of tasks are given away.
  [[nodiscard]] us next_slot(std::int64_t queue);
  /// Claims in the hands of holders that are declared dead.
  [[nodiscard]] std::int64_t claims_of_the_dead();
  /// Of ledgers whose claim is over: there may be none.
  [[nodiscard]] std::int64_t forgotten_ledgers();

 private:
  [[nodiscard]] std::string all(std::string const& columns, std::string const& rest);

  support::raw_connection on_;
};

/// Empty: they agree; else where they do not.
[[nodiscard]] std::string difference(naive const& expected, picture const& there);

}  // namespace model
