#include "drivers/mysql/mysql_watch.hpp"

#include "drivers/mysql/mysql_adopt.hpp"
#include "drivers/mysql/mysql_connection.hpp"

#include <string_view>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

bool tell(::MYSQL& connection, std::string_view text) noexcept {
  return ::mysql_real_query(&connection, text.data(), text.size()) == 0;
}

}  // namespace

bool mysql_watch::set(::MYSQL& connection) noexcept {
  if (set_) return true;
  if (commits_by_itself(connection)) {
    if (!tell(connection, "set autocommit = 0")) return false;
    autocommit_ = true;
  }
  set_ = tell(connection, "savepoint daybook_transaction");
  return set_;
}

std::optional<mysql_problem> mysql_watch::release(::MYSQL& connection) {
  if (!std::exchange(set_, false) || tell(connection, "release savepoint daybook_transaction")) {
    return std::nullopt;
  }
  return problem_of(connection);
}

bool mysql_watch::end(::MYSQL& connection) noexcept {
  set_ = false;
  return !std::exchange(autocommit_, false) || tell(connection, "set autocommit = 1");
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
