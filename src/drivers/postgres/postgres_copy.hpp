// Many rows by COPY, in its text format: the server reads a value as any column's type, as it does
// a parameter's.
// Thread safety: one thread at a time.
#pragma once

#include "db/session.hpp"
#include "drivers/postgres/postgres_wire.hpp"

#include <daybook/sql.hpp>

#include <functional>
#include <span>

#include <libpq-fe.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// Sends the rows, and reads what the server says of them. `limit` is asked before each wait: as
/// long as the server takes them, it may take its time. On failure: as check_values(), with
/// nothing sent.
[[nodiscard]] answer copy_in(::PGconn& connection, db::load_target const& target,
                             std::span<value const> cells, std::function<patience()> const& limit);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
