// A [[plan]] as it stands in daybook.toml.
// Thread safety: any thread.
#pragma once

#include "config/declared_plan.hpp"
#include "config/toml_value.hpp"

#include <string_view>

namespace command {

/// On failure: complaint (65) with file, line and column.
[[nodiscard]] declared_plan read_plan(toml::table const& table, std::string_view file);

}  // namespace command
