// Splits a script for MariaDB and MySQL: their connections take one statement at a time, unless
// told to take what an injected text would need.
// Thread-safe.
#pragma once

#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// The statements between the `;` that stand outside strings, quoted names and comments; without
/// those that hold nothing but comments.
[[nodiscard]] std::vector<std::string_view> split_mysql_script(std::string_view text);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
