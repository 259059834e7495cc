// Reads a TZif file (RFC 9636, versions 1 to 4) from its bytes.
// Thread-safe.
#pragma once

#include "calendar/zone_table.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace calendar {

/// The table, or why there is none.
struct tzif {
  std::optional<zone_table> table;
  std::string_view broken;  ///< empty, or what is wrong; a literal
};

[[nodiscard]] tzif read_tzif(std::string_view bytes);

}  // namespace calendar
}  // namespace v1
}  // namespace daybook
