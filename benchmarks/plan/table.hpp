// The application's table that planners read: rows in the order they were made, ten of them at an
// instant. Thread safety: one thread at a time.
#pragma once

#include "support/engines.hpp"

#include <string>

namespace bench {

class table {
 public:
  /// item(id, created, amount), empty, with an index over (created, id). On failure, everywhere:
  /// std::runtime_error.
  explicit table(support::engine const& on);

  /// Rows 1 to `rows`; those that are there already stay.
  void grow_to(long rows);

  [[nodiscard]] support::engine const& on() const { return on_; }
  [[nodiscard]] support::fresh_database const& database() const { return database_; }
  [[nodiscard]] std::string const& url() const { return database_.url(); }
  [[nodiscard]] long rows() const { return rows_; }
  [[nodiscard]] double number(std::string const& query) const;

 private:
  support::engine on_;
  support::fresh_database database_;
  long rows_ = 0;
};

}  // namespace bench
