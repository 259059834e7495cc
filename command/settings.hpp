// daybook.toml in the working directory: what need not be written on every command line.
// Thread safety: the main thread.
//
//   database = "postgresql:///shop"
#pragma once

#include <optional>
#include <string>

namespace command {

struct settings {
  std::optional<std::string> database;
};

/// Nothing set where there is no such file. On failure: complaint (65: what is wrong and in which
/// line, a key that is not known among it; 74: it cannot be read).
[[nodiscard]] settings read_settings();

}  // namespace command
