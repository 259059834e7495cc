// The seam: one connection to one database. A driver implements these virtuals and nothing of
// the domain; everything that differs between engines is text in the catalogue, an answer of
// `dialect`, or a class of error thrown by the driver.
// Thread safety: one thread at a time; interrupt() from any.
#pragma once

#include "db/statement.hpp"

#include <daybook/run.hpp>
#include <daybook/sql.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3;
struct pg_conn;
struct st_mysql;

namespace daybook {
inline namespace v1 {
namespace base {
class bell;
}  // namespace base

namespace db {

/// What the domain may ask about an engine; never its name.
struct dialect {
  std::string_view name;        ///< "sqlite", "postgres", "mysql": the folder under sql/
  char quote;                   ///< around an identifier; doubled within it
  bool backslash_escapes;       ///< in a text's literal it takes the next character with it
  bool asks_for_delimiter;      ///< its client has to be told where the body of a trigger ends
  bool ddl_in_transaction;      ///< a migration is all or nothing
  bool compounds;               ///< some of its servers take several statements as one
  bool one_writer;              ///< writers exclude each other: a fence write also renews
  std::string_view real_clock;  ///< the expression for now, BIGINT microseconds since 1970 UTC
};

/// What came back: cells row by row.
struct table {
  std::int64_t affected = 0;  ///< rows inserted, found by an update, or deleted
  std::size_t width = 0;
  std::vector<cell> cells;

  [[nodiscard]] std::size_t size() const noexcept { return width == 0 ? 0 : cells.size() / width; }
  /// Whether the statement changed or found anything.
  [[nodiscard]] bool something() const noexcept { return affected > 0 || size() > 0; }
  [[nodiscard]] std::span<cell const> row(std::size_t index) const {
    return std::span(cells).subspan(index * width, width);
  }
};

/// A statement and its values, in the order of statement::inputs: one of several that go together.
/// The statement and what the values view are borrowed until it was executed.
struct call {
  statement const* what;
  std::vector<value> values;
  bool asked = true;  ///< else its table may be empty, its rows be with those of the next asked
};

/// Where session::load() puts its rows; the names as they stand in a statement.
struct load_target {
  std::string table;
  std::vector<std::string> columns;
};

/// How many rows `cells` are; no whole number is daybook::error (error_code::internal).
[[nodiscard]] std::size_t rows_of(load_target const& target, std::span<value const> cells);
/// How many of the first rows to send at once: at most `most`, and about a megabyte.
[[nodiscard]] std::size_t rows_at_once(load_target const& target, std::span<value const> cells,
                                       std::size_t most);
/// An INSERT of so many rows, whose placeholders are `?`.
[[nodiscard]] statement insert_rows(load_target const& target, std::size_t rows);

using native = std::variant<::sqlite3*, ::pg_conn*, ::st_mysql*>;

/// A fact of the server, the file or the client library: ("fsync", "on").
struct fact {
  std::string name;
  std::string found;
};

/// What follows a commit in this process: `call(of, what)`.
struct sequel {
  void (*call)(void const* object, std::int64_t handle) noexcept;
  void const* of;
  std::int64_t what;
  bool operator==(sequel const&) const = default;
};

class session {
 public:
  session() = default;
  session(session const&) = delete;
  session& operator=(session const&) = delete;
  virtual ~session() = default;

  /// Executes a statement with its values in the order of statement::inputs. Prepared once per
  /// session where the connection allows it. Outside begin() it commits by itself.
  /// On failure: throws daybook::error, classified. An error of the server inside a transaction
  /// leaves it to be rolled back. A statement text is one statement.
  virtual table run(statement const& statement, std::span<value const> values) = 0;
  /// Several statements separated by `;`, without values: migrations.
  virtual void script(std::string_view text) = 0;

  /// Executes the calls in one READ COMMITTED transaction, which it begins and commits itself, in
  /// as few round trips as the engine allows; a table for each. Not between begin() and commit().
  /// On failure: throws the error of the first call that failed, and nothing of any call stays;
  /// error::in_doubt() when the COMMIT may have happened.
  virtual std::vector<table> together(std::span<call const> calls);
  /// Whether together() is one round trip, whose COMMIT is on its way with the calls.
  [[nodiscard]] virtual bool sends_together() const noexcept { return false; }

  /// Calls `body` in a READ COMMITTED transaction, which it begins and ends itself: commits what
  /// that has done where it returns true, undoes it where it returns false. Where the engine has
  /// one writer the transaction may be one with those of other threads, and `body` be called on one
  /// of them, with its session, while this one waits: so it is the library's own, and short. Not
  /// between begin() and commit(). Returns what `body` has returned. On failure: throws its error,
  /// or that of the COMMIT, and nothing of it stays; error::in_doubt() as commit().
  virtual bool share(std::function<bool(session&)> const& body);

  /// Inserts many rows, given one after the other, between begin() and commit(): as fast as the
  /// engine can. Returns how many. On failure: as run(); some may be inserted, so roll back.
  virtual std::int64_t load(load_target const& target, std::span<value const> cells);

  /// Whether run() takes entry::together, which commits or rolls back by itself.
  [[nodiscard]] virtual bool takes_compounds() const noexcept { return false; }

  /// Until when to wait.
  using deadline = std::chrono::steady_clock::time_point;
  /// From now on this session hears when others commit: those who say a word on the channel, or,
  /// where the engine knows no words, anybody who wrote. False: it cannot, here or on any other
  /// connection of this kind. For a session that does nothing else. On failure: as run().
  [[nodiscard]] virtual bool listen(std::string_view /*channel*/) { return false; }
  /// Waits until something is heard, or was since listen() or the last hear(). False: the time is
  /// over, or the bell was rung. On failure: as run().
  [[nodiscard]] virtual bool hear(deadline /*until*/, base::bell const& /*unless*/) {
    return false;
  }
  virtual void stop_listening() {}

  virtual void begin(isolation level) = 0;
  /// On failure: error::in_doubt() when the COMMIT may have happened; otherwise it has not.
  virtual void commit() = 0;
  /// Never throws; a rollback that fails makes the session unusable.
  virtual void rollback() noexcept = 0;

  /// Between two loans: undoes what users' statements may have set. False: discard the session. The
  /// settings of an application's connection stay as they are.
  [[nodiscard]] virtual bool restore() noexcept { return usable(); }
  /// Returns when what it has seen committed is where a COMMIT of its own would wait for it.
  virtual void confirm_seen() {}
  /// False after a broken connection: discard the session.
  [[nodiscard]] virtual bool usable() const noexcept = 0;
  /// Cuts the connection without another byte to the server, as a broken network would.
  virtual void cut() noexcept = 0;
  /// Asks the server (or SQLite) to stop the statement that runs now.
  virtual void interrupt() noexcept = 0;
  [[nodiscard]] virtual dialect const& speaks() const noexcept = 0;
  [[nodiscard]] virtual native handle() noexcept = 0;
  /// The schema that an unqualified table name means on this connection ("main", "public", the
  /// URL's database).
  [[nodiscard]] virtual std::string schema() = 0;
  /// For the doctor: what only the driver can find out. Never throws for what it may not see.
  [[nodiscard]] virtual std::vector<fact> facts() = 0;

  /// Calls it when a transaction of core::transact() was committed here, or may have been.
  void after_commit(sequel const& callback);
  /// Calls them all, or forgets them.
  void ended(bool committed) noexcept;

 private:
  std::vector<sequel> after_commit_;
};

/// How a driver connects.
struct connect_options {
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds lock_timeout{5'000};  ///< the longest wait for another's lock
  /// The longest one of our own statements may take; 0: no limit. Only for the renewing session.
  std::chrono::milliseconds statement_timeout{0};
  /// How long we wait for the answer to one of our own statements before the server counts as
  /// gone; a COMMIT has as much again as its transaction took, and so has the answer to load(). 0:
  /// no limit. Never for scripts and the application's own statements, which may take hours.
  std::chrono::milliseconds answer_timeout{0};
  /// The longest an open transaction may be idle before the server ends it; 0: no limit.
  std::chrono::milliseconds idle_timeout{30'000};
};

}  // namespace db
}  // namespace v1
}  // namespace daybook
