#include "drivers/mysql/mysql_watch.hpp"

#include "drivers/mysql/mysql_adopt.hpp"
#include "drivers/mysql/mysql_connection.hpp"

#include <string_view>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

bool tell(::MYSQL& on, std::string_view text) noexcept {
  return ::mysql_real_query(&on, text.data(), text.size()) == 0;
}

}  // namespace

bool mysql_watch::set(::MYSQL& on) noexcept {
  if (set_) return true;
  if (commits_by_itself(on)) {
    if (!tell(on, "set autocommit = 0")) return false;
    autocommit_ = true;
  }
  set_ = tell(on, "savepoint daybook_transaction");
  return set_;
}

std::optional<mysql_problem> mysql_watch::release(::MYSQL& on) {
  if (!std::exchange(set_, false) || tell(on, "release savepoint daybook_transaction")) {
    return std::nullopt;
  }
  return problem_of(on);
}

bool mysql_watch::end(::MYSQL& on) noexcept {
  set_ = false;
  return !std::exchange(autocommit_, false) || tell(on, "set autocommit = 1");
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
