// Reads one [[aggregate]] of daybook.toml. Thread safety: values.
#pragma once

#include "config/declared_aggregate.hpp"
#include "config/toml_value.hpp"

#include <string_view>

namespace command {

/// What it says of tables and columns is looked at by the database only.
/// On failure: complaint (65) with file, line and column.
[[nodiscard]] declared_aggregate read_aggregate(toml::table const& table, std::string_view file);

}  // namespace command
