// The tables that contestants gather bricks in, filled anew for each turn; and how a turn is timed.
// Thread safety: one thread at a time.
#pragma once

#include "support/engines.hpp"

#include <functional>
#include <string>
#include <vector>

namespace bench {

/// What the table of bricks is like. Only the key, or what the story's table has, too; fillfactor
/// is PostgreSQL's.
struct shape {
  std::string name;
  int fillfactor = 100;
  bool link_index = false;
  bool state_index = false;
};

struct amount {
  double seconds = 0;
  long rows = 0;
  [[nodiscard]] double rate() const { return static_cast<double>(rows) / seconds; }
};

inline constexpr long workers = 1000;
// Brick number `id` is this worker's, and so many.
inline constexpr long worker_of(long id) { return id % workers + 1; }
inline constexpr long number_of(long id) { return id % 100 + 1; }

class field {
 public:
  /// On failure, everywhere: std::runtime_error.
  field(support::engine const& on, shape of);

  [[nodiscard]] std::string const& url() const { return database_.url(); }
  [[nodiscard]] std::string const& engine() const { return on_.name; }
  [[nodiscard]] support::fresh_database const& database() const { return database_; }
  [[nodiscard]] shape const& of() const { return of_; }

  /// Bricks 1 to `rows`, all free; no pay.
  void fill(long rows);
  /// As `fill` leaves it, and an index for those who find pay by its worker.
  void index_pay();
  /// So many are taken, and every parent says what its rows are.
  void check(long rows) const;
  [[nodiscard]] double number(std::string const& query) const;

 private:
  support::engine on_;
  shape of_;
  support::fresh_database database_;
};

/// All at once, each in a thread of its own, from when everybody is ready; the rows that they say.
amount together(std::vector<std::function<long()>> const& each);

}  // namespace bench
