#include "benchmarks/queue/bare/bare_engines.hpp"

namespace bench {

contestants bare_contestants(support::engine const& on) {
  contestants out;
  for (auto const what : {keeps::ranges, keeps::rolling, keeps::rows, keeps::ones, keeps::singly}) {
    if (on.name == "sqlite") {
      out.push_back(bare_sqlite_queue(on, what));
    } else if (on.name == "postgresql") {
      out.push_back(bare_postgres_queue(on, what));
    } else {
      out.push_back(bare_mariadb_queue(on, what));
    }
  }
  return out;
}

}  // namespace bench
