// Files beside a SQLite database that only carry a lock, named like its own: FILE-turn as FILE-wal.
// Thread-safe.
#pragma once

#include <string>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// An open file, closed at the end; not inherited by other programs.
class side_file {
 public:
  /// Opens `database` + `suffix`. Creates it, empty, where it is not there, with the permissions
  /// of the database, and for root its owner too, as SQLite does: whoever may write the one may
  /// lock the other. On failure (a full disk, a folder that is not ours): see open().
  side_file(std::string const& database, char const* suffix) noexcept;
  side_file(side_file const&) = delete;
  side_file& operator=(side_file const&) = delete;
  ~side_file();

  [[nodiscard]] bool open() const noexcept { return file_ >= 0; }
  /// Locks it unless somebody has it locked.
  [[nodiscard]] bool try_lock() const noexcept;
  /// The same, but waits, without a limit. Comes back without the lock where the file is not open,
  /// or its file system has no locks.
  void lock() const noexcept;
  void unlock() const noexcept;

 private:
  int file_;
};

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
