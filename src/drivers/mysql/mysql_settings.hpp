// What sessions of MariaDB and MySQL are told at their start, and transactions before theirs.
// Thread-safe.
#pragma once

#include "db/session.hpp"
#include "drivers/mysql/mysql_error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// What each statement of ours rests on; may be sent in an open transaction.
inline constexpr std::string_view mysql_statement_settings =
    "set session sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,"
    "ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', timestamp = default";
/// What our statements rely on, whatever the server's defaults are. One statement.
[[nodiscard]] std::string mysql_settings(mysql_kind server, db::connect_options const& options);
/// It goes for the next transaction only. Empty where nothing need be said.
[[nodiscard]] char const* isolation_text(isolation level, bool is_default);

/// One that only reads, and is none of the catalogue's.
[[nodiscard]] db::statement read_by(std::string_view name, std::string_view text);

/// For the doctor: asks for what add_mysql_variables() adds.
inline constexpr std::string_view mysql_variables =
    "show session variables where variable_name in ('tx_isolation', 'transaction_isolation', "
    "'super_read_only', 'innodb_snapshot_isolation', 'wsrep_on', 'wsrep_sync_wait', "
    "'idle_transaction_timeout', 'idle_write_transaction_timeout', 'max_statement_time', "
    "'lock_wait_timeout', 'max_allowed_packet', 'innodb_rollback_on_timeout')";
void add_mysql_variables(std::vector<db::fact>& facts, mysql_kind server, db::table const& found);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
