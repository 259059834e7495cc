#include "drivers/sqlite/sqlite_values.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include <sqlite3.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

int bind(::sqlite3_stmt& statement, int index, value const& value) {
  return std::visit(
      [&](auto const& v) -> int {
        using kind = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<kind, std::nullptr_t>) {
          return ::sqlite3_bind_null(&statement, index);
        } else if constexpr (std::is_same_v<kind, double>) {
          return ::sqlite3_bind_double(&statement, index, v);
        } else if constexpr (std::is_integral_v<kind>) {
          return ::sqlite3_bind_int64(&statement, index, static_cast<std::int64_t>(v));
        } else if constexpr (std::is_same_v<kind, std::string_view>) {
          // A null pointer would bind NULL where an empty text is meant.
          return ::sqlite3_bind_text64(&statement, index, v.empty() ? "" : v.data(), v.size(),
                                       SQLITE_STATIC, SQLITE_UTF8);
        } else {
          return v.empty()
                     ? ::sqlite3_bind_zeroblob(&statement, index, 0)
                     : ::sqlite3_bind_blob64(&statement, index, v.data(), v.size(), SQLITE_STATIC);
        }
      },
      value);
}

cell column(::sqlite3_stmt& statement, int index) {
  switch (::sqlite3_column_type(&statement, index)) {
    case SQLITE_NULL: return nullptr;
    case SQLITE_INTEGER: return std::int64_t{::sqlite3_column_int64(&statement, index)};
    case SQLITE_FLOAT: return ::sqlite3_column_double(&statement, index);
    default: {
      auto const* bytes = static_cast<char const*>(::sqlite3_column_blob(&statement, index));
      auto const size = static_cast<std::size_t>(::sqlite3_column_bytes(&statement, index));
      return bytes == nullptr ? std::string() : std::string(bytes, size);
    }
  }
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
