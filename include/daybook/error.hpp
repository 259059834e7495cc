// Faults: the database is gone, a statement is wrong, a name is too long. One type, asked by
// property. What is an ordinary answer (busy, done before, lost) is never an exception.
// Thread safety: values.
//
//   catch (daybook::error const& e) { if (e.retryable()) try_later(); else report(e.what()); }
#pragma once

#include <daybook/detail/export.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace daybook {
inline namespace v1 {

/// What kind of fault; the command maps each to its exit code.
enum class error_code : std::uint8_t {
  bad_argument,   ///< an invalid name, key, option or URL
  unreachable,    ///< the database cannot be reached, or the connection broke
  not_permitted,  ///< the database refuses the user or the action
  configuration,  ///< no book there, a book of another version, a void precondition
  read_only,      ///< the database accepts no writes (a replica, a read-only file)
  full,           ///< no room left on the database's disk
  io,             ///< the operating system failed to read or write
  conflict,       ///< serialization, deadlock, a lock not had in time
  constraint,     ///< a unique, foreign, check or not-null rule of the database
  statement,      ///< the database rejects the statement itself
  forked,         ///< used in a process that was forked after opening
  closed,         ///< the book was closed before an asynchronous call began
  internal,       ///< a defect of this library
};

/// Where in the source an error was made. std::source_location is missing in clang 14 with the
/// standard library of g++ 12.
struct source_location {
  char const* file;
  int line;
  [[nodiscard]] static constexpr source_location here(char const* file = __builtin_FILE(),
                                                      int line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

/// What the driver knows about a fault.
struct error_facts {
  error_code kind = error_code::internal;
  bool retryable = false;
  bool in_doubt = false;
  bool breaks_connection = false;
  std::string sqlstate = {};
  int native_code = 0;
  std::string statement = {};
};

class DAYBOOK_EXPORT error : public std::runtime_error {
 public:
  error(error_facts facts, std::string const& message,
        source_location where = source_location::here(__builtin_FILE(), __builtin_LINE()));

  [[nodiscard]] error_code kind() const noexcept { return facts_.kind; }
  /// The whole transaction may be run again, after a pause.
  [[nodiscard]] bool retryable() const noexcept { return facts_.retryable; }
  /// The reply to a COMMIT was lost: it may have happened. Never retry this blindly.
  [[nodiscard]] bool in_doubt() const noexcept { return facts_.in_doubt; }
  /// The connection is of no more use.
  [[nodiscard]] bool breaks_connection() const noexcept { return facts_.breaks_connection; }
  /// Five characters, or empty where the engine has none (SQLite).
  [[nodiscard]] std::string const& sqlstate() const noexcept { return facts_.sqlstate; }
  /// The engine's own number: SQLite's extended result code, MariaDB's errno, 0 for PostgreSQL.
  [[nodiscard]] int native_code() const noexcept { return facts_.native_code; }
  /// The name of our statement ("run.start"), or "user" for one of the application's.
  [[nodiscard]] std::string const& statement() const noexcept { return facts_.statement; }
  [[nodiscard]] error_facts const& facts() const noexcept { return facts_; }
  [[nodiscard]] source_location where() const noexcept { return where_; }

 private:
  error_facts facts_;
  source_location where_;
};

}  // namespace v1
}  // namespace daybook
