#include "cli/remedies.hpp"

#include <daybook/detail/shell_word.hpp>

#include <fmt/format.h>

#include <string_view>

namespace command {

namespace {

using daybook::shell_word;

constexpr std::string_view plan_prefix = "plan ";

/// Two arguments; behind "--" where one of them would be taken for an option.
std::string two_words(std::string_view first, std::string_view second) {
  bool const options = first.starts_with('-') || second.starts_with('-');
  return fmt::format("{}{} {}", options ? "-- " : "", shell_word(first), shell_word(second));
}

}  // namespace

std::string task_retry_command(daybook::task_event const& task) {
  return "daybook tasks retry " + two_words(task.queue, task.key);
}

std::string task_resolve_command(daybook::task_event const& task) {
  return "daybook tasks resolve --done|--not-done " + two_words(task.queue, task.key);
}

std::string tick_retry_command(daybook::run_event const& run) {
  return "daybook schedules retry " + two_words(run.process, run.key);
}

std::string run_resolve_command(daybook::run_event const& run) {
  return fmt::format("daybook runs resolve --done|--not-done --key={} {}{}", shell_word(run.key),
                     run.process.starts_with('-') ? "-- " : "", shell_word(run.process));
}

std::string run_show_command(daybook::run_event const& run) {
  if (run.process.starts_with(plan_prefix)) {
    return "daybook plans show " + shell_word(run.process.substr(plan_prefix.size()));
  }
  return fmt::format("daybook runs show --key={} {}", shell_word(run.key), shell_word(run.process));
}

}  // namespace command
