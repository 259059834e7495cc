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

int bind(::sqlite3_stmt& to, int index, value const& what) {
  return std::visit(
      [&](auto const& v) -> int {
        using kind = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<kind, std::nullptr_t>) {
          return ::sqlite3_bind_null(&to, index);
        } else if constexpr (std::is_same_v<kind, double>) {
          return ::sqlite3_bind_double(&to, index, v);
        } else if constexpr (std::is_integral_v<kind>) {
          return ::sqlite3_bind_int64(&to, index, static_cast<std::int64_t>(v));
        } else if constexpr (std::is_same_v<kind, std::string_view>) {
          // A null pointer would bind NULL where an empty text is meant.
          return ::sqlite3_bind_text64(&to, index, v.empty() ? "" : v.data(), v.size(),
                                       SQLITE_STATIC, SQLITE_UTF8);
        } else {
          return v.empty() ? ::sqlite3_bind_zeroblob(&to, index, 0)
                           : ::sqlite3_bind_blob64(&to, index, v.data(), v.size(), SQLITE_STATIC);
        }
      },
      what);
}

cell column(::sqlite3_stmt& of, int at) {
  switch (::sqlite3_column_type(&of, at)) {
    case SQLITE_NULL: return nullptr;
    case SQLITE_INTEGER: return std::int64_t{::sqlite3_column_int64(&of, at)};
    case SQLITE_FLOAT: return ::sqlite3_column_double(&of, at);
    default: {
      auto const* bytes = static_cast<char const*>(::sqlite3_column_blob(&of, at));
      auto const size = static_cast<std::size_t>(::sqlite3_column_bytes(&of, at));
      return bytes == nullptr ? std::string() : std::string(bytes, size);
    }
  }
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
