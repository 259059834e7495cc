// What sessions of MariaDB and MySQL are told at their start, and transactions before theirs.
// Thread-safe.
#pragma once

#include "db/session.hpp"
#include "drivers/mysql_error.hpp"

#include <string>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// What our statements rely on, whatever the server's defaults are. One statement.
[[nodiscard]] std::string mysql_settings(mysql_kind server, db::connect_options const& options);
/// It goes for the next transaction only. Empty where nothing need be said.
[[nodiscard]] char const* isolation_text(isolation level, bool is_default);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
