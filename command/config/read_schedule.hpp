// Reads one [[schedule]] of daybook.toml. Thread safety: values.
#pragma once

#include "config/declared_schedule.hpp"
#include "config/toml_value.hpp"

#include <string_view>

namespace command {

/// Everything that the library would refuse is refused here, so that no file is obeyed by half.
/// On failure: complaint (65).
[[nodiscard]] declared_schedule read_schedule(toml::table const& table, std::string_view file);

}  // namespace command
