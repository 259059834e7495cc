// What a SQLite connection notices of others that commit: a number that is another after each of
// their commits. SQLite knows no words; to ask for the number takes microseconds and no disk.
// Thread safety: one thread at a time.
#pragma once

#include "base/bell.hpp"

#include <chrono>
#include <cstdint>
#include <memory>

#include <sqlite3.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

class sqlite_changes {
 public:
  /// What is changed from now on is noticed. False: the file cannot be read now.
  [[nodiscard]] bool begin(::sqlite3& handle);
  /// As db::session::hear(). A file that cannot be read counts as changed: the next use tells why.
  [[nodiscard]] bool wait(::sqlite3& handle, std::chrono::steady_clock::time_point until,
                          base::bell const& unless);

 private:
  struct finalize {
    void operator()(::sqlite3_stmt* handle) const noexcept { ::sqlite3_finalize(handle); }
  };
  [[nodiscard]] std::int64_t number(::sqlite3& handle);

  std::unique_ptr<::sqlite3_stmt, finalize> ask_;
  std::int64_t seen_ = 0;
};

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
