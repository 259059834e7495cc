// The keys of a page as few bytes: integers as the differences from row to row, other texts without
// the start that they share with the one before.
// Thread-safe.
#pragma once

#include <daybook/sweep.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace planners {

/// All of one width.
[[nodiscard]] std::string coded(std::vector<row_key> const& keys);
/// On failure: daybook::error (error_code::internal) where these are not bytes of coded().
[[nodiscard]] std::vector<row_key> decoded(std::string_view bytes);

}  // namespace planners
}  // namespace v1
}  // namespace daybook
