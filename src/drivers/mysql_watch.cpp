#include "drivers/mysql_watch.hpp"

#include "drivers/mysql_adopt.hpp"
#include "drivers/mysql_connection.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

bool tell(::MYSQL& on, std::string_view text) noexcept {
  return ::mysql_real_query(&on, text.data(), text.size()) == 0;
}

}  // namespace

bool runs_others(std::string_view statement) noexcept {
  constexpr std::array<std::string_view, 6> plain{"select", "insert",  "update",
                                                  "delete", "replace", "with"};
  statement.remove_prefix(std::min(statement.find_first_not_of(" \t\r\n("), statement.size()));
  return std::none_of(plain.begin(), plain.end(), [&](std::string_view verb) {
    auto const first = statement.substr(0, verb.size());
    return std::equal(first.begin(), first.end(), verb.begin(), verb.end(),
                      [](char a, char b) { return (a | 0x20) == b; });
  });
}

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
