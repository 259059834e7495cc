// The bare queue of each engine. See bare_loop.hpp.
#pragma once

#include "benchmarks/queue/bare/bare_loop.hpp"

namespace bench {

std::unique_ptr<contestant> bare_postgres_queue(support::engine const& on, keeps what);
std::unique_ptr<contestant> bare_mariadb_queue(support::engine const& on, keeps what);
std::unique_ptr<contestant> bare_sqlite_queue(support::engine const& on, keeps what);

}  // namespace bench
