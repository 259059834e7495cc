// What we rely on where a connection of libmariadb is the application's, and what we must do
// ourselves there.
// Thread safety: one thread at a time.
#pragma once

#include "db/session.hpp"
#include "drivers/drivers.hpp"
#include "drivers/mysql/mysql_connection.hpp"

#include <daybook/sql.hpp>

#include <span>
#include <string>
#include <string_view>

#include <mysql.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// Asks the library, not the server. On failure: throws daybook::error, and `after` is called.
[[nodiscard]] mysql_handle adopted_mysql(::MYSQL& handle, transactions mode,
                                         give_back<::MYSQL> after);
/// The part of it that any statement may change.
void check_mysql_transaction(::MYSQL& handle, transactions mode, std::string const& where);

/// A query for what only the server knows, and the look at its row: it returns the database that
/// is chosen, or an empty text. The isolation, the zone and the time-outs may be any.
extern std::string_view const mysql_handle_facts;
[[nodiscard]] std::string check_mysql_facts(std::span<cell const> row, std::string const& where);

/// Whether autocommit is on.
[[nodiscard]] bool commits_by_itself(::MYSQL const& handle);

/// A connection without CLIENT_FOUND_ROWS counts what an update changed; we count what it found.
void count_matched_rows(::MYSQL& handle, std::string_view statement, db::table& table);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
