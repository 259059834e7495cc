// Questions of the doctor to a PostgreSQL connection, and their answers.
// Thread safety: as the connection's.
#pragma once

#include "db/session.hpp"

#include <functional>
#include <vector>

#include <libpq-fe.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// The versions, and how far the server's clock is from this machine's. `ask` runs a query.
[[nodiscard]] std::vector<db::fact> postgres_facts(
    ::PGconn& connection, std::function<db::table(db::statement const&)> const& ask);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
