#include "drivers/sqlite/sqlite_file.hpp"

#include "drivers/drivers.hpp"

#include <daybook/error.hpp>

#include <cerrno>

#include <sqlite3.h>
#include <sys/stat.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

std::string shown(::sqlite3& handle) {
  char const* const file = ::sqlite3_db_filename(&handle, "main");
  return "sqlite:" + std::string(file == nullptr || *file == '\0' ? ":memory:" : file);
}

bool file_moved(::sqlite3& connection) noexcept {
  int moved = 0;
  ::sqlite3_file_control(&connection, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved != 0;
}

void refuse_moved_file(std::string const& shown) {
  throw error({.kind = error_code::unreachable,
               .retryable = true,
               .breaks_connection = true,
               .native_code = SQLITE_READONLY_DBMOVED},
              shown +
                  ": the file was deleted or replaced while it was open: put it back, or end "
                  "every program that uses it and make a new book with 'daybook migrate up'");
}

bool file_missing(std::string const& path) noexcept {
  struct stat found {};
  return !path.starts_with(memory_name) && ::stat(path.c_str(), &found) != 0 && errno == ENOENT;
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
