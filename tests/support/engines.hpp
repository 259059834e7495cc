// The configurations that every suite runs over, and a database of its own for each test.
// Which ones: DAYBOOK_TEST_ENGINES, a list with commas; all five when it is not set. Where the
// servers are: tests/servers/servers writes DAYBOOK_TEST_POSTGRESQL and the like. An engine that
// was asked for and has no server fails its tests; nothing is skipped.
#pragma once

#include <daybook/book.hpp>
#include <daybook/testing.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace support {

struct engine {
  /// "sqlite", "postgresql", "pgbouncer", "mariadb", "mariadb_snapshot", "mysql"
  std::string name;
  std::string environment;  ///< where its URL is; empty for SQLite
};

/// Those asked for, in a fixed order.
std::vector<engine> engines();

/// For INSTANTIATE_TEST_SUITE_P: names the parameter.
std::string name_of(engine const& which);

/// An empty database, dropped at the end (with everybody in it thrown out).
class fresh_database {
 public:
  /// On failure: throws std::runtime_error.
  explicit fresh_database(engine const& on);
  fresh_database(fresh_database const&) = delete;
  fresh_database& operator=(fresh_database const&) = delete;
  ~fresh_database();

  [[nodiscard]] std::string const& url() const noexcept { return url_; }
  /// Executes text as it is, on a connection of its own to this database (not through PgBouncer).
  void execute(std::string const& text) const;
  /// The first column of the first row; empty when there is none.
  [[nodiscard]] std::string query(std::string const& text) const;
  /// A migrated book with a movable clock, whose lease is renewed only by hand.
  [[nodiscard]] daybook::book open(daybook::book_options options = manual()) const;
  [[nodiscard]] static daybook::book_options manual();

 private:
  engine on_;
  std::string name_;
  std::string url_;
  std::string direct_url_;
};

/// A connection of the tests' own, below the library: for two-session tests.
class raw_connection {
 public:
  explicit raw_connection(std::string const& url);
  raw_connection(raw_connection&&) noexcept;
  raw_connection& operator=(raw_connection&&) noexcept;
  ~raw_connection();
  /// On failure: throws std::runtime_error with the server's message.
  std::string execute(std::string const& text);
  /// The driver's own handle, as an application has it.
  [[nodiscard]] std::variant<::sqlite3*, ::pg_conn*, ::st_mysql*> native() const;

 private:
  struct inside;
  std::unique_ptr<inside> inside_;
};

}  // namespace support
