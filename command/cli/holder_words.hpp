// What processes have in hand, as people read it.
// Thread safety: values.
#pragma once

#include <daybook/holders.hpp>

#include <string>
#include <vector>

namespace command {

/// "nightly 2026-11-21, 12 of queue mail, and 3 more"; "-" where it is nothing.
[[nodiscard]] std::string text_of(std::vector<daybook::held_work> const& all);

}  // namespace command
