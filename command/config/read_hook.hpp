// Reads [[hook]], on_problem and [alerts] of daybook.toml. Thread safety: any thread.
// On failure, all: complaint (65).
#pragma once

#include "config/declared_hook.hpp"
#include "config/toml_value.hpp"

#include <string>
#include <string_view>

namespace command {

[[nodiscard]] declared_hook read_hook(toml::table const& table, std::string_view file);
void read_on_problem(declared_alerts& declared, toml_value const& value);
void read_alerts(declared_alerts& declared, toml_value const& value);

/// The hook's URL with what `${NAME}` stands for in the environment, which is looked at now: the
/// commands that tell nobody need no secrets. On failure: complaint (65) that names the variable.
[[nodiscard]] std::string url_of(declared_hook const& hook);

}  // namespace command
