// The commands that mend a last failure, for the log and for messages: ready for a shell.
// Thread safety: values.
//
//   retry_of_task("stock", "product 42");  // daybook tasks retry stock 'product 42'
#pragma once

#include <daybook/observer.hpp>

#include <string>
#include <string_view>

namespace command {

/// As it is where a shell takes it for one word, else in quotes.
[[nodiscard]] std::string shell_word(std::string_view text);

[[nodiscard]] std::string retry_of_task(daybook::task_event const& of);
[[nodiscard]] std::string resolve_of_task(daybook::task_event const& of);
[[nodiscard]] std::string retry_of_tick(daybook::run_event const& of);
[[nodiscard]] std::string resolve_of_run(daybook::run_event const& of);
/// Of a pass, what its plan is; else the run with its attempts.
[[nodiscard]] std::string look_at_run(daybook::run_event const& of);

}  // namespace command
