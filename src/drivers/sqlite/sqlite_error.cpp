#include "drivers/sqlite/sqlite_error.hpp"

#include <sqlite3.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

error_facts classify_sqlite(int code) {
  // Extended codes first, then the primary code they extend.
  switch (code) {
    case SQLITE_READONLY_DBMOVED: return {.kind = error_code::io, .breaks_connection = true};
    case SQLITE_CANTOPEN_SYMLINK: return {.kind = error_code::not_permitted};
    default: break;
  }
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_INTERRUPT: return {.kind = error_code::conflict, .retryable = true};
    case SQLITE_FULL: return {.kind = error_code::full, .retryable = true};
    case SQLITE_IOERR:
    case SQLITE_NOMEM: return {.kind = error_code::io};
    case SQLITE_READONLY: return {.kind = error_code::read_only};
    case SQLITE_CANTOPEN: return {.kind = error_code::unreachable};
    case SQLITE_PERM:
    case SQLITE_AUTH: return {.kind = error_code::not_permitted};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return {.kind = error_code::configuration, .breaks_connection = true};
    case SQLITE_CONSTRAINT: return {.kind = error_code::constraint};
    case SQLITE_MISUSE: return {.kind = error_code::internal};
    default: return {.kind = error_code::statement};
  }
}

std::string_view sqlite_remedy(error_facts const& facts) {
  switch (facts.kind) {
    case error_code::conflict:
      return facts.native_code == SQLITE_BUSY_SNAPSHOT
                 ? "another wrote since this transaction first read: roll it back, and begin it "
                   "with BEGIN IMMEDIATE"
                 : "another process or thread writes: try again";
    case error_code::full: return "make room on the disk";
    case error_code::read_only: return "make the file and its folder writable for this user";
    case error_code::unreachable: return "check the path and the permissions of its folder";
    case error_code::configuration: return "name a SQLite file, or restore it from a copy";
    case error_code::io: return "check the disk and the limits of open files";
    default: return {};
  }
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
