// What the verbs of `daybook schedules` have in common. Thread safety: the main thread.
#pragma once

#include <daybook/book.hpp>

#include <string>

namespace command {

/// On failure: complaint (66), or daybook::error for what is no name.
[[nodiscard]] daybook::schedule must_have(daybook::book const& book, std::string const& name);

}  // namespace command
