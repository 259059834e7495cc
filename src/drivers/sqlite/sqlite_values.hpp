// Values on their way into a SQLite statement, and cells on their way out.
// Thread safety: that of the statement.
#pragma once

#include <daybook/sql.hpp>

struct sqlite3_stmt;

namespace daybook {
inline namespace v1 {
namespace drivers {

/// The parameter at `index`, from 1. What `value` views is borrowed until the statement's bindings
/// are cleared. Returns SQLite's result code.
[[nodiscard]] int bind(::sqlite3_stmt& statement, int index, value const& value);
/// The column `index`, from 0, of the present row.
[[nodiscard]] cell column(::sqlite3_stmt& statement, int index);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
