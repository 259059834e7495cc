// A declaration that was found to fit the tables it names, and the statements it makes.
// Thread safety: values.
#pragma once

#include "aggregation/statements.hpp"
#include "core/tx/context.hpp"
#include "tables/table.hpp"

#include <daybook/aggregation_options.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace aggregations {

struct definition {
  std::string name;
  std::int64_t id = 0;
  std::string declared;  ///< as the book has it
  aggregation_options options;
  tables::table source;
  tables::table parent;
  bool triggers = false;        ///< something happens where a row of the source is changed
  bool number_keys = false;     ///< the source's are integers
  bool number_parents = false;  ///< the parent's are
  statements sql;
};

/// On failure: daybook::error (error_code::bad_argument) that names what does not fit, and where.
[[nodiscard]] definition checked(core::context const& context, std::string_view name,
                                 aggregation_options const& options);
/// What may not change while parents are open, as text.
[[nodiscard]] std::string structure_of(aggregation_options const& options);
/// As aggregation::advice().
[[nodiscard]] std::vector<std::string> advice_on(core::context const& context,
                                                 definition const& aggregation);

[[nodiscard]] std::string text_of(state_value const& state);
[[noreturn]] void bad(std::string_view aggregation, std::string const& reason);

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
