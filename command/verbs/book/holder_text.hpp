// The work that a process has in hand, as a text for people.
// Thread safety: values.
#pragma once

#include <daybook/holders.hpp>

#include <string>
#include <vector>

namespace command {

/// "nightly 2026-11-21, 12 of queue mail, and 3 more"; "-" where there is none.
[[nodiscard]] std::string text_of(std::vector<daybook::held_work> const& all);

}  // namespace command
