// Several statements of SQLite in one text: migrations.
// Thread safety: that of the connection.
#pragma once

#include <string>

struct sqlite3;

namespace daybook {
inline namespace v1 {
namespace drivers {

/// Executes each. A column that is to be added and is there already is passed over: an earlier try,
/// or a person with the printed text, has added it. Returns SQLITE_DONE, or the first failure.
[[nodiscard]] int run_sqlite_script(::sqlite3& handle, std::string const& text);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
