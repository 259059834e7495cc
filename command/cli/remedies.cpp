#include "cli/remedies.hpp"

#include <fmt/format.h>

#include <string_view>

namespace command {

namespace {

constexpr std::string_view shell_plain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,=";
constexpr std::string_view plan_prefix = "plan ";

/// Two arguments; behind "--" where one of them would be taken for an option.
std::string two_words(std::string_view first, std::string_view second) {
  bool const options = first.starts_with('-') || second.starts_with('-');
  return fmt::format("{}{} {}", options ? "-- " : "", shell_word(first), shell_word(second));
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && text.find_first_not_of(shell_plain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string out = "'";
  for (char const c : text) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

std::string retry_of_task(daybook::task_event const& of) {
  return "daybook tasks retry " + two_words(of.queue, of.key);
}

std::string resolve_of_task(daybook::task_event const& of) {
  return "daybook tasks resolve --done|--not-done " + two_words(of.queue, of.key);
}

std::string retry_of_tick(daybook::run_event const& of) {
  return "daybook schedules retry " + two_words(of.process, of.key);
}

std::string resolve_of_run(daybook::run_event const& of) {
  return fmt::format("daybook runs resolve --done|--not-done --key={} {}{}", shell_word(of.key),
                     of.process.starts_with('-') ? "-- " : "", shell_word(of.process));
}

std::string look_at_run(daybook::run_event const& of) {
  if (of.process.starts_with(plan_prefix)) {
    return "daybook plans show " + shell_word(of.process.substr(plan_prefix.size()));
  }
  return fmt::format("daybook runs show --key={} {}", shell_word(of.key), shell_word(of.process));
}

}  // namespace command
