// The book's version: what is there, whether this library may work with it, and the migrations.
// Thread-safe.
#pragma once

#include "core/tx/context.hpp"

#include <daybook/book.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace core {

/// The version that this library's migrations lead to.
inline constexpr int library_version = 11;
/// The oldest library version that may work beside it: a migration that only adds leaves it.
inline constexpr int oldest_beside = 1;

struct book_version {
  int version = 0;
  int oldest = 0;
  std::string id;  ///< of this book, made when it was
  db::clock_kind clock = db::clock_kind::real;
};

/// Empty: there is no book. On failure: throws daybook::error.
[[nodiscard]] std::optional<book_version> read_version(context const& context);

/// Throws daybook::error (error_code::configuration) with the remedy unless this library may work
/// with the book. `where` is the URL as people see it.
void check_version(std::optional<book_version> const& found, std::string_view where);

/// Throws daybook::error (error_code::bad_argument) unless a joined transaction is on this book's
/// database, and, where the engine has one writer, is the writer. `where` as above.
void check_joined(context const& context, db::session& session, std::string_view where);

[[nodiscard]] std::vector<migration_info> migrations(db::catalogue const& sql);
/// The tables of a book of this library's version, without the prefix, as the migrations make them.
[[nodiscard]] std::vector<std::string> tables(db::catalogue const& sql);

/// Brings the book to this library's version. `clock` is for a new book only.
void migrate(context const& context, std::string_view where, db::clock_kind clock);

}  // namespace core
}  // namespace v1
}  // namespace daybook
