#include "drivers/sqlite/sqlite_script.hpp"

#include <cstring>
#include <memory>
#include <string_view>

#include <sqlite3.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

int run_sqlite_script(::sqlite3& handle, std::string const& text) {
  for (char const* rest = text.c_str(); *rest != '\0';) {
    ::sqlite3_stmt* raw = nullptr;
    char const* const start = rest;
    int code = ::sqlite3_prepare_v2(&handle, rest, -1, &raw, &rest);
    std::unique_ptr<::sqlite3_stmt, decltype(&::sqlite3_finalize)> const one(raw,
                                                                             &::sqlite3_finalize);
    if (code == SQLITE_OK && raw == nullptr) continue;  // a comment, or the end
    while (code == SQLITE_OK || code == SQLITE_ROW) code = ::sqlite3_step(raw);
    bool const there = code == SQLITE_ERROR &&
                       std::string_view(::sqlite3_errmsg(&handle)).starts_with("duplicate column");
    if (code != SQLITE_DONE && !there) return code;
    // One that was not prepared need not have been read to its end.
    if (raw == nullptr && (rest == start || rest[-1] != ';')) {
      auto const* const end = std::strchr(start, ';');
      rest = end == nullptr ? "" : end + 1;
    }
  }
  return SQLITE_DONE;
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
