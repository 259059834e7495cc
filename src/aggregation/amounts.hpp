// The rows of a group as the database has counted them: how many, and the exact sums of their
// amounts, however large.
// Thread safety: values.
#pragma once

#include "db/session.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace aggregations {

/// Of 2^63 amounts of 64 bits; none is rounded.
__extension__ using exact = __int128;

/// "-12", or "3 17": the upper half and the lower 32 bits, each summed for itself.
[[nodiscard]] exact exact_in(std::string_view text);
[[nodiscard]] std::string text_of(exact number);
[[nodiscard]] std::optional<std::int64_t> narrowed(exact number) noexcept;

struct amount {
  exact sum = 0;
  std::int64_t nulls = 0;
  bool negative = false;     ///< one of them is
  std::int64_t strange = 0;  ///< how many are no integers, where a column takes anything
};

struct group_rows {
  std::optional<std::string> group;  ///< its keys, with U+001F between them; empty: one is null
  std::string first;                 ///< the key of its first row; of what was taken: its parent's
  std::int64_t count = 0;
  std::int64_t strays = 0;  ///< that are not as they were set
  std::vector<amount> amounts;
};

/// From the columns of aggregation.survey and the like.
[[nodiscard]] std::vector<group_rows> groups_of(db::table const& found);
/// As a text, whatever the kind of the cell; null is empty.
[[nodiscard]] std::string text_in(cell const& cell);
/// The number that a column holds; empty: null, or something else.
[[nodiscard]] std::optional<std::int64_t> number_in(cell const& cell);

[[nodiscard]] std::vector<std::string> keys_of(std::string_view group);
/// Its keys, separated by ", "; "null" where one is.
[[nodiscard]] std::string shown(std::optional<std::string> const& group);

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
