// A table of the application's: its columns and indexes as the engine's catalogue has them, its
// names as they stand in SQL.
// Thread safety: values.
#pragma once

#include "core/tx/context.hpp"
#include "db/session.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace tables {

enum class kind : std::uint8_t { integer, text, uuid, date, boolean, decimal, real, other };

struct column {
  std::string name;
  kind what = kind::other;
  std::int64_t low = 0;  ///< the least and the greatest integer it holds
  std::int64_t high = 0;
  std::optional<std::int64_t> length;  ///< of a text, in characters; empty: no limit
  bool nullable = true;
  bool generated = false;  ///< the engine makes its value, and takes no other
  std::string type;        ///< as the engine says it
};

struct index {
  std::string name;
  std::vector<std::string> columns;  ///< empty for one that is an expression
  bool unique = false;
  bool primary = false;
  bool deferrable = false;  ///< unique only when a transaction commits
  std::string condition;    ///< it has only rows that satisfy this; empty: all
};

/// Whether columns can never be equal in two rows.
struct uniqueness {
  bool holds = false;
  std::string index = {};  ///< the name of the one that makes it so
  /// What to change of a constraint that falls short of it; empty: there is none.
  std::string remedy = {};
};

enum class sort : std::uint8_t { table, partitioned, view, other };

struct table {
  std::string schema;
  std::string name;
  std::string sql;  ///< quoted, with its schema
  sort what = sort::table;
  bool transactional = true;
  bool strict = true;  ///< a column takes only values of its type
  std::vector<column> columns;
  std::vector<index> indexes;

  /// Null: there is none of that name.
  [[nodiscard]] column const* find(std::string_view column) const noexcept;
  /// Of these columns, in any order.
  [[nodiscard]] uniqueness unique(std::span<std::string const> columns) const;
  /// An index that begins with these columns, in this order, and has all rows; null: none.
  [[nodiscard]] index const* led_by(std::span<std::string const> columns) const noexcept;
};

/// `name` is "orders" or "shop.orders"; without a schema that of the connection. On failure:
/// daybook::error (error_code::bad_argument) that says which tables there are.
[[nodiscard]] table look(core::context const& context, std::string_view name);
[[nodiscard]] table look(core::context const& context, db::session& session, std::string_view name);

/// Its names alone: it need not be there.
[[nodiscard]] table named(core::context const& context, db::session& session,
                          std::string_view name);

/// The column of that name. On failure: daybook::error (error_code::bad_argument) that says which
/// there are; `option` names it in the message ("the queue's watch").
[[nodiscard]] column const& need(table const& table, std::string_view column,
                                 std::string_view option);

/// An identifier, by the engine's rules. On failure: daybook::error (error_code::bad_argument) for
/// one that is empty or holds a zero byte.
[[nodiscard]] std::string quoted(db::dialect const& dialect, std::string_view identifier);
/// A text as a literal, for what takes no parameters, such as a trigger.
[[nodiscard]] std::string literal(db::dialect const& dialect, std::string_view text);

/// The statement that makes an index on these columns, named after them, for a person to run.
[[nodiscard]] std::string create_index(core::context const& context, table const& table,
                                       std::span<std::string const> columns);

/// Whether values of the column have one text each, so that they can be keys with us.
[[nodiscard]] bool can_be_key(column const& column) noexcept;
/// SQL for the key that a column's value is with us. Precondition: can_be_key().
[[nodiscard]] std::string key_of(core::context const& context, column const& column,
                                 std::string_view column_sql);
/// SQL for the value of the column that a key of ours means, so that an index on the column serves;
/// null where it means none. Values of two keys may be one: compare key_of(), too.
[[nodiscard]] std::string value_of(core::context const& context, column const& column,
                                   std::string_view key_sql);
/// SQL for whether a text can be a key of ours.
[[nodiscard]] std::string is_key(core::context const& context, std::string_view text_sql);

}  // namespace tables
}  // namespace v1
}  // namespace daybook
