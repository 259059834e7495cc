// Reads one [[queue]] of daybook.toml. Thread safety: values.
#pragma once

#include "config/declared_queue.hpp"
#include "config/toml_value.hpp"

#include <string_view>

namespace command {

/// Everything that the library would refuse is refused here, so that no file is obeyed by half.
/// On failure: complaint (65).
[[nodiscard]] declared_queue read_queue(toml::table const& table, std::string_view file);

}  // namespace command
