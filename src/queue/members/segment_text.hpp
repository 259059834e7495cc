// Segments as the book has them: columns of a row, and texts of many.
// Thread safety: any thread may call.
#pragma once

#include "queue/model/settle.hpp"

#include <daybook/sql.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace queues {

/// A segment from the columns lo, hi, lane, state, attempts, crashes, turn_us, period_us, due_us.
[[nodiscard]] segment segment_of(std::span<cell const> columns);
/// The ranges of a claim from its column, in the order of lo.
[[nodiscard]] std::vector<segment> ranges_of(std::string_view column);
/// For segment.put.
[[nodiscard]] std::string text_of(std::span<segment const> segments);

}  // namespace queues
}  // namespace v1
}  // namespace daybook
