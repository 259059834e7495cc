// What a stretch of work cost: processor time on both sides, and what the database counted.
// Thread safety: one thread at a time.
#pragma once

#include "benchmarks/counts.hpp"
#include "support/engines.hpp"

#include <optional>
#include <vector>

namespace bench {

struct cost {
  double server_us = 0;  ///< processor time of the server's processes; SQLite has none
  double client_us = 0;  ///< of this process and of its children that have ended
  double statements = 0;
  double commits = 0;
  double log_bytes = 0;  ///< SQLite: all that this process wrote, the log and its way back
  double buffers = 0;    ///< as in counts
  double rows = 0;
};

class meter {
 public:
  /// On failure: std::runtime_error where the environment does not say which process the server is.
  meter(support::engine const& on, support::fresh_database const& database);

  /// Nobody else may be connected to the database at `begin`, and nobody again before `end`.
  void begin();
  cost end();
  /// The same while somebody is connected and stays so: processor time and statements only.
  void begin_connected();
  cost end_connected();

 private:
  [[nodiscard]] cost processors() const;

  support::engine on_;
  long server_ = 0;
  std::optional<counter> counter_;
  cost before_;
};

}  // namespace bench
