// Runs as JSON: the fields that --json prints.
// Thread safety: values.
#pragma once

#include <daybook/inspect.hpp>
#include <daybook/operate.hpp>

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace command {

[[nodiscard]] nlohmann::ordered_json json_of(daybook::run_info const& run);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::attempt_info const& attempt);
/// With its steps, intents, carried values, attempts and changes.
[[nodiscard]] nlohmann::ordered_json json_of(daybook::run_detail const& detail,
                                             std::vector<daybook::change_info> const& changes);

}  // namespace command
