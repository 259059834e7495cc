// The words for what a queue and its tasks can be, as people and programs write them; daybook.toml
// has shorter ones for the cadence, and no `tx`.
// Thread safety: values.
#pragma once

#include "cli/words.hpp"

#include <daybook/outcome.hpp>
#include <daybook/queue_options.hpp>
#include <daybook/task.hpp>
#include <daybook/words.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace command {

inline auto const cadence_words =
    words_of({daybook::period_anchor::from_turn, daybook::period_anchor::from_finish});
inline auto const on_new_words =
    words_of({daybook::new_member_policy::next_round, daybook::new_member_policy::now});
inline auto const mode_words = words_of(
    {daybook::step_mode::at_least_once, daybook::step_mode::at_most_once, daybook::step_mode::tx});
inline auto const task_state_words = words_of(
    {daybook::task_state::waiting, daybook::task_state::running, daybook::task_state::succeeded,
     daybook::task_state::failed, daybook::task_state::dead, daybook::task_state::unknown,
     daybook::task_state::quarantined, daybook::task_state::discarded});

/// "50/s", "3000/h": a whole number, and s, m, h or d. Empty: anything else.
[[nodiscard]] std::optional<daybook::rate> rate_from(std::string_view text);
/// The shortest of those forms, or "1/2500ms".
[[nodiscard]] std::string text_of(daybook::rate const& rate);

}  // namespace command
