// Parents of aggregations, their rows and what was done with them as JSON: the fields that --json
// prints.
// Thread safety: values.
#pragma once

#include <daybook/aggregation.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace command {

/// A column's sum, and its name.
[[nodiscard]] nlohmann::ordered_json json_of_sums(daybook::aggregation_options const& options,
                                                  std::vector<std::string> const& sums);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::parent_info const& parent,
                                             daybook::aggregation_options const& options);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::aggregated_row const& row,
                                             daybook::aggregation_options const& options);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::aggregation_event const& event);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::difference const& difference);

/// The value of a parent's state column: "open", "closed", "settled" or "void".
[[nodiscard]] daybook::state_value state_named(std::string_view word,
                                               daybook::aggregation_parent const& parent);

}  // namespace command
