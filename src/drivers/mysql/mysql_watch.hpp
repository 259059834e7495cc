// A transaction in which statements go past the driver, by the native handle or in a procedure, and
// whose errors it does not see: a deadlock whose error nobody heeds has rolled back what came
// before it, and what comes after it would be committed alone, with the record of all.
// Thread safety: as mysql_session.
#pragma once

#include "drivers/mysql/mysql_error.hpp"

#include <optional>

#include <mysql.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

class mysql_watch {
 public:
  static constexpr unsigned ended = 1305;  ///< "SAVEPOINT does not exist"

  /// Sets a savepoint, which the server forgets when it ends the transaction; and autocommit off,
  /// for what comes after that must not be committed before it is found out. Once in a
  /// transaction. False: it failed, and the transaction must be rolled back.
  [[nodiscard]] bool set(::MYSQL& connection) noexcept;
  /// Just before COMMIT. The problem: `ended` where the server has ended the transaction.
  [[nodiscard]] std::optional<mysql_problem> release(::MYSQL& connection);
  /// Just after COMMIT or ROLLBACK: makes the connection what it was. False: that failed.
  [[nodiscard]] bool end(::MYSQL& connection) noexcept;

 private:
  bool set_ = false;
  bool autocommit_ = false;  ///< to be set again
};

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
