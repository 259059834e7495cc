// What a database saw: statements, commits, bytes of its log. Asked of the database itself.
// Thread safety: one thread at a time.
#pragma once

#include "support/engines.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace bench {

struct counts {
  double statements = 0;  ///< that came from clients; SQLite has none to ask
  double commits = 0;     ///< of transactions that wrote
  double log_bytes = 0;
  double buffers = 0;  ///< pages asked of the server's cache; SQLite: not counted
  double rows = 0;     ///< read by the server, or entries of indexes; SQLite: not counted
};

/// PostgreSQL: pg_stat_statements, pg_stat_database, the position of the log. MariaDB: Questions,
/// trx_rw_commits, Innodb_os_log_written. SQLite: the frames of the write-ahead log.
class counter {
 public:
  /// On failure: std::runtime_error, as where the administrator's URL is not in the environment.
  counter(support::engine const& on, support::fresh_database const& database);

  /// So far. Nobody may be connected to the database: a server tells what a session did when that
  /// has ended.
  [[nodiscard]] counts now();
  /// The same while sessions go on: statements only.
  [[nodiscard]] double statements();

 private:
  [[nodiscard]] double number(std::string const& query);

  int asked_ = 0;  ///< our own questions, which MariaDB counts too
  std::string kind_;
  std::string file_;
  std::string database_;
  counts so_far_;  ///< SQLite's, whose log is begun anew each time
  std::optional<support::raw_connection> admin_;
};

/// What `piece` costs: that of doing it `times` and once more, less that of doing it once, so that
/// connecting and asking cost nothing. Each the least of three, for what a server does by itself
/// only adds.
counts cost_of(counter& from, int times, std::function<void(int)> const& piece);

}  // namespace bench
