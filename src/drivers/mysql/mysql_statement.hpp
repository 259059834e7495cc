// A prepared statement of libmariadb: values in, rows out. And rows of the text protocol.
// Thread safety: as the connection's.
#pragma once

#include "db/session.hpp"
#include "db/statement.hpp"
#include "drivers/mysql/mysql_connection.hpp"

#include <daybook/sql.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <mysql.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

struct close_mysql_statement {
  void operator()(::MYSQL_STMT* statement) const noexcept { ::mysql_stmt_close(statement); }
};
using mysql_statement = std::unique_ptr<::MYSQL_STMT, close_mysql_statement>;

/// Thrown inside the driver; the session, which knows how far it was, classifies it.
struct mysql_failure {
  mysql_problem what;
};

/// On failure: daybook::error (error_code::bad_argument) where they are not one for each input.
void check_mysql_count(db::statement const& statement, std::span<value const> values);
/// Sends the values and executes. On failure: mysql_failure.
void execute_mysql(::MYSQL_STMT& statement, db::statement const& layout,
                   std::span<value const> values);
enum class mysql_results : std::uint8_t { first, all };
/// Every row of the first result, or of all of them, whose columns are the same; and the count.
/// What else there is (of a procedure) is read and dropped. On failure: mysql_failure, or
/// daybook::error when a value has no type of ours.
[[nodiscard]] db::table read_mysql(::MYSQL_STMT& prepared, std::string_view statement,
                                   mysql_results mysql_results);
/// A table for each call of their compound (db::compound). On failure: the same; `tables` has those
/// of the calls before the one that failed, or before those that are asked together with it.
void read_mysql_answers(::MYSQL_STMT& statement, std::span<db::call const> calls,
                        std::vector<db::table>& tables);
/// The same for what mysql_real_query has sent.
[[nodiscard]] db::table read_mysql_text(::MYSQL& connection, std::string_view statement);

/// Which server this is; a connection's number means something only there. On failure:
/// mysql_failure.
[[nodiscard]] std::string read_server_identity(::MYSQL& connection);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
