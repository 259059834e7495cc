#include "drivers/sqlite/sqlite_error.hpp"

#include <sqlite3.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

error_facts classify_sqlite(int code) {
  // Extended codes first, then the primary code they extend.
  switch (code) {
    case SQLITE_READONLY_DBMOVED: return {.kind = fault::io, .breaks_connection = true};
    case SQLITE_CANTOPEN_SYMLINK: return {.kind = fault::not_permitted};
    default: break;
  }
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_INTERRUPT: return {.kind = fault::conflict, .retryable = true};
    case SQLITE_FULL: return {.kind = fault::full, .retryable = true};
    case SQLITE_IOERR:
    case SQLITE_NOMEM: return {.kind = fault::io};
    case SQLITE_READONLY: return {.kind = fault::read_only};
    case SQLITE_CANTOPEN: return {.kind = fault::unreachable};
    case SQLITE_PERM:
    case SQLITE_AUTH: return {.kind = fault::not_permitted};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return {.kind = fault::configuration, .breaks_connection = true};
    case SQLITE_CONSTRAINT: return {.kind = fault::constraint};
    case SQLITE_MISUSE: return {.kind = fault::internal};
    default: return {.kind = fault::statement};
  }
}

std::string_view sqlite_remedy(error_facts const& facts) {
  switch (facts.kind) {
    case fault::conflict:
      return facts.native_code == SQLITE_BUSY_SNAPSHOT
                 ? "another wrote since this transaction first read: roll it back, and begin it "
                   "with BEGIN IMMEDIATE"
                 : "another process or thread writes: try again";
    case fault::full: return "make room on the disk";
    case fault::read_only: return "make the file and its folder writable for this user";
    case fault::unreachable: return "check the path and the permissions of its folder";
    case fault::configuration: return "name a SQLite file, or restore it from a copy";
    case fault::io: return "check the disk and the limits of open files";
    default: return {};
  }
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
