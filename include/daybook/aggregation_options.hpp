// The declaration of an aggregation: how rows of a table of yours are added up into rows of
// another.
// Thread safety: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace daybook {
inline namespace v1 {

/// A value of a state column: a number, or a word.
using state_value = std::variant<std::int64_t, std::string>;

/// The rows to add up. Names are those of columns; no SQL.
struct aggregation_source {
  std::string table;       ///< "t_move_brick" or "shop.t_move_brick"
  std::string key = "id";  ///< unique, never null: integers, texts, uuids or dates
  std::string state;
  state_value free = 1;
  state_value taken = 2;
  state_value settled = 3;
  std::string link;                            ///< the key of the parent that has the row
  std::optional<std::string> unlinked = {""};  ///< the link of a free row; empty: null
  std::vector<std::string> group;              ///< rows that differ here never share a parent
  /// A condition in SQL over the columns of one row; only rows that satisfy it are taken. Empty:
  /// all that are free.
  std::string filter = {};
};

/// A column of the parent, and SQL for its value.
struct parent_column {
  std::string column;
  std::string expression;
};

/// The parent rows.
struct aggregation_parent {
  std::string table;
  std::string key = "pay_no";  ///< unique: a text, or a 64-bit integer; made by key_of
  std::string state;
  state_value open = 1;
  state_value closed = 2;
  state_value settled = 3;
  state_value voided = 4;
  std::string count = {};  ///< how many rows it has; empty: not kept
  /// Set when it is made, over the columns of aggregation_source::group. Group columns that the
  /// parent has under the same name are set by themselves.
  std::vector<parent_column> opening = {};
  /// Set again with each change of the sums, over the parent's own columns.
  std::vector<parent_column> following = {};
};

/// A column of integers in the source, and the parent's column for their sum.
struct aggregated_sum {
  std::string from;
  std::string into;
};

struct aggregation_options {
  aggregation_source source;
  aggregation_parent parent;
  std::vector<aggregated_sum> sums = {};
  bool allow_null = false;      ///< a null amount counts as 0
  bool allow_negative = false;  ///< amounts, not sums
  int chunk = 10'000;           ///< the most rows in one transaction, 1 to 1 000 000
  /// The beginning of a parent's key, if the key is a text; 26 characters that sort by time follow.
  std::string key_prefix = {};
  /// Makes the keys instead; called with the group's values. The keys must be unique for ever.
  std::function<std::string(std::vector<std::string> const&)> key_of = {};
};

}  // namespace v1
}  // namespace daybook
