// What `run` and `step` have in common: the run around a command, and the child's environment.
// Thread safety: the main thread.
#pragma once

#include "config/options.hpp"
#include "process/child.hpp"

#include <daybook/book.hpp>
#include <daybook/run.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace command {

/// How inner calls find the run and its book.
inline constexpr char const* token_variable = "DAYBOOK_RUN";

/// "nightly" or "nightly, key 2026-11-21", for messages.
[[nodiscard]] std::string name_of(daybook::process const& name, daybook::key const& piece);

/// The child with all of DAYBOOK_... set. `step` is empty for the run itself.
[[nodiscard]] program program_for(daybook::run const& run, std::string_view step,
                                  database const& where, arguments const& words);

/// The run around us, as `daybook run` handed it on. On failure: complaint (64), with the verb.
[[nodiscard]] std::string token_around(std::string_view verb);
/// The run of a token; empty where that attempt no longer holds it, and then it is said (79).
[[nodiscard]] std::optional<daybook::run> attach(daybook::book& book, std::string const& token,
                                                 std::string_view run_name);

/// The words after "--"; none when help is asked for. On failure: complaint (64).
[[nodiscard]] arguments command_of(split_arguments const& given, std::string_view verb);

}  // namespace command
