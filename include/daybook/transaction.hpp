// The open transaction that a step's body writes in: the library begins and commits it, so there
// is no commit() to misuse. It is a small view, not a database library; as<>() gives the
// driver's own handle for everything else.
// Thread safety: one thread, the one that called the body. Lifetime: until the body returns.
//
//   run.step("post", [](daybook::transaction& tx) { tx.exec("update ledger set posted = 1"); });
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/sql.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

struct sqlite3;
struct pg_conn;
struct st_mysql;

namespace daybook {
inline namespace v1 {

namespace db {
class session;
class user_statements;
}  // namespace db

/// The three drivers' own handles; their headers are never included by ours.
template <class T>
concept native_handle =
    std::same_as<T, ::sqlite3> || std::same_as<T, ::pg_conn> || std::same_as<T, ::st_mysql>;

class DAYBOOK_EXPORT transaction {
 public:
  /// `place`: where it is, for messages; "step 'post' of invoicing / 2026-11".
  transaction(db::session& session, db::user_statements& statements, std::string place)
      : session_(&session), statements_(&statements), place_(std::move(place)) {}
  transaction(transaction const&) = delete;
  transaction& operator=(transaction const&) = delete;

  /// Executes one statement; returns how many rows it inserted, changed (found, on MariaDB) or
  /// deleted. On failure: throws daybook::error, whose message names the statement and where it
  /// was executed, and the transaction will be rolled back.
  template <bindable... A>
  std::int64_t exec(sql_for<sizeof...(A)> text, A const&... arguments) {
    return exec_values(text.statement(), {to_value(arguments)...});
  }

  /// Executes one query and returns its rows. On failure: as exec(); a row that does not fit
  /// `Row` is daybook::error (error_code::bad_argument).
  template <class Row, bindable... A>
  [[nodiscard]] std::vector<Row> rows(sql_for<sizeof...(A)> text, A const&... arguments) {
    std::vector<Row> out;
    if constexpr (!is_row<Row>) {
      static_assert(is_row<Row>,
                    "a row is std::int64_t, double, bool or std::string, a std::optional of one of "
                    "them, or a std::tuple of these with a member for each column");
    } else {
      constexpr auto width = width_of<Row>();
      auto const table = query_values(text.statement(), {to_value(arguments)...}, width);
      out.reserve(table.size() / width);
      try {
        for (std::size_t at = 0; at < table.size(); at += width) {
          out.push_back(decode_row<Row>(std::span(table).subspan(at, width)));
        }
      } catch (...) {
        rethrow(text.statement());
      }
    }
    return out;
  }

  /// The driver's own handle, in this same transaction; nullptr when the book is of another
  /// engine. Do not end the transaction through it. Session settings end with this transaction if
  /// the session is ours. On MariaDB and MySQL check its errors: from the first call until the
  /// transaction's end autocommit is off, and a savepoint of ours there.
  template <native_handle N>
  [[nodiscard]] N* as() const noexcept;

  /// For the other rooms of this library only.
  [[nodiscard]] db::session& internals() const noexcept { return *session_; }

 private:
  std::int64_t exec_values(sql text, std::initializer_list<value> arguments);
  std::vector<cell> query_values(sql text, std::initializer_list<value> arguments,
                                 std::size_t width);
  /// Within a handler: what is handled, where it is daybook::error with the place and the
  /// statement.
  [[noreturn]] void rethrow(sql text) const;

  db::session* session_;
  db::user_statements* statements_;
  std::string place_;
};

template <>
DAYBOOK_EXPORT ::sqlite3* transaction::as<::sqlite3>() const noexcept;
template <>
DAYBOOK_EXPORT ::pg_conn* transaction::as<::pg_conn>() const noexcept;
template <>
DAYBOOK_EXPORT ::st_mysql* transaction::as<::st_mysql>() const noexcept;

}  // namespace v1
}  // namespace daybook
