// Many rows with one execution of a prepared INSERT: MariaDB's arrays of parameters.
// Thread safety: as the connection's.
#pragma once

#include <daybook/sql.hpp>

#include <cstdint>
#include <span>

#include <mysql.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// Whether the server has it (MySQL has not), and each column's values, row after row in `cells`,
/// are of one type or null, as it wants them.
[[nodiscard]] bool takes_mysql_rows(::MYSQL_STMT& statement, std::span<value const> cells);
/// Executes an INSERT of one row for each row of `cells`; returns how many were inserted. On
/// failure: mysql_failure.
[[nodiscard]] std::int64_t execute_mysql_rows(::MYSQL_STMT& statement,
                                              std::span<value const> cells);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
