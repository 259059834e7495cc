// How a text is compared with a column by the column's own rules, so that its index serves.
// Thread safety: values.
#pragma once

#include "core/tx/context.hpp"
#include "tables/table.hpp"

#include <string>

namespace daybook {
inline namespace v1 {
namespace aggregations {

/// What goes around a text; all empty for a column that holds none.
struct conversion {
  std::string given;  ///< the type of one that is given
  std::string before;
  std::string after;
};

/// On failure: daybook::error.
[[nodiscard]] conversion conversion_to(core::context const& context, tables::table const& table,
                                       tables::column const& column);

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
