// Sessions of SQLite and fork(). The library keeps the locks that a process has on a file in a
// table of the process, for POSIX forgets all of them when any descriptor of the file is closed.
// fork() copies that table, and no lock: the child believes to have what the parent has, and writes
// without any. Its mutexes are copied as they are, locked for ever where a thread of the parent had
// them. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// While it lives, this process has a session open.
class sqlite_process {
 public:
  /// On failure: daybook::error (error_code::forked) where this process was forked from one that
  /// had a session open. `shown` is the database, for the message.
  explicit sqlite_process(std::string const& shown);
  sqlite_process(sqlite_process const&) = delete;
  sqlite_process& operator=(sqlite_process const&) = delete;
  /// In a child of fork() the session stays the parent's, and open.
  ~sqlite_process();

 private:
  std::int64_t process_;
};

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
