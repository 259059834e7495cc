// The words for what a queue and its tasks can be, as people and programs write them; daybook.toml
// has shorter ones for the cadence, and no `tx`.
// Thread safety: values.
#pragma once

#include "cli/words.hpp"

#include <daybook/outcome.hpp>
#include <daybook/queue_options.hpp>
#include <daybook/task.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace command {

inline constexpr words_for<daybook::cadence, 2> cadence_words{
    {{"from-turn", daybook::cadence::from_turn}, {"from-finish", daybook::cadence::from_finish}}};
inline constexpr words_for<daybook::on_new, 2> on_new_words{
    {{"next-round", daybook::on_new::next_round}, {"now", daybook::on_new::now}}};
inline constexpr words_for<daybook::step_mode, 3> mode_words{
    {{"at-least-once", daybook::step_mode::at_least_once},
     {"at-most-once", daybook::step_mode::at_most_once},
     {"tx", daybook::step_mode::tx}}};
inline constexpr words_for<daybook::task_state, 8> task_state_words{
    {{"waiting", daybook::task_state::waiting},
     {"running", daybook::task_state::running},
     {"succeeded", daybook::task_state::succeeded},
     {"failed", daybook::task_state::failed},
     {"dead", daybook::task_state::dead},
     {"unknown", daybook::task_state::unknown},
     {"suspect", daybook::task_state::suspect},
     {"discarded", daybook::task_state::discarded}}};

/// "50/s", "3000/h": a whole number, and s, m, h or d. Empty: anything else.
[[nodiscard]] std::optional<daybook::rate> rate_from(std::string_view text);
/// The shortest of those forms, or "1/2500ms".
[[nodiscard]] std::string text_of(daybook::rate const& of);

}  // namespace command
