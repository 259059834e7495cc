// What we rely on where a connection of libpq is the application's.
// Thread safety: one thread at a time.
#pragma once

#include "db/session.hpp"
#include "drivers/drivers.hpp"

#include <daybook/sql.hpp>

#include <span>
#include <string>

#include <libpq-fe.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// Asks libpq, not the server: the transaction's state, the mode, the encoding. On failure: throws
/// daybook::error.
void check_postgres_handle(::PGconn& handle, transactions mode);

/// The query for what only the server knows of a joined transaction, and the look at its row.
/// Any isolation level will do, for the fence is a write.
[[nodiscard]] db::statement joined_postgres_facts();
void check_joined_postgres(std::span<cell const> row, std::string const& where);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
