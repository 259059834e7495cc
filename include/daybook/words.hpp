// The word for each value of an enumeration, as JSON, the command and daybook.toml write it. Those
// of states stand beside their enumerations. Thread safety: any thread may call; the texts live as
// long as the program.
//
//   std::cerr << daybook::word_of(started.refused()) << '\n';   // "done-before"
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/error.hpp>
#include <daybook/holders.hpp>
#include <daybook/inspect.hpp>
#include <daybook/intake.hpp>
#include <daybook/job.hpp>
#include <daybook/operate.hpp>
#include <daybook/outcome.hpp>
#include <daybook/planner_options.hpp>
#include <daybook/queue_options.hpp>
#include <daybook/schedule.hpp>
#include <daybook/step.hpp>
#include <daybook/task.hpp>
#include <daybook/tick.hpp>
#include <daybook/zone.hpp>

#include <string_view>

namespace daybook {
inline namespace v1 {

// A value that is none of its enumeration is "?".
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(period_anchor value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(new_member_policy value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(beginning value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(result::kind value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(task_request value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(stop_reason value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(gap value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(fold value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(local_meaning::kind value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(catch_up value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(overlap value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(tick_state value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(schedule_state value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(launch_rule value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(window_strategy::unit value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(isolation value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(fence_position value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(start_refusal value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(outcome value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(commit_outcome value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(error_code value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(severity value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(work_kind value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(lease_state value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(change_outcome value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(effect_state value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(intake_state value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(message_identity::from value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(payload_form value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(log_begin value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(gap_policy value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(failure_policy value) noexcept;
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(take_until value) noexcept;

}  // namespace v1
}  // namespace daybook
