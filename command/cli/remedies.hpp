// The commands that mend a last failure, for the log and for messages: ready for a shell.
// Thread safety: values.
//
//   task_retry_command("stock", "product 42");  // daybook tasks retry stock 'product 42'
#pragma once

#include <daybook/observer.hpp>

#include <string>

namespace command {

[[nodiscard]] std::string task_retry_command(daybook::task_event const& task);
[[nodiscard]] std::string task_resolve_command(daybook::task_event const& task);
[[nodiscard]] std::string tick_retry_command(daybook::run_event const& run);
[[nodiscard]] std::string run_resolve_command(daybook::run_event const& run);
/// For a plan's pass the command that shows the plan, else the command that shows the run.
[[nodiscard]] std::string run_show_command(daybook::run_event const& run);

}  // namespace command
