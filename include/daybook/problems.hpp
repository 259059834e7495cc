// Problems that a person should know now: work that nobody does, and work that waits for a
// decision.
// Thread safety: values.
//
//   for (auto const& one : book.problems()) {
//     std::cerr << one.subject << ": " << one.why << "; " << one.remedy << '\n';
//   }
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/time.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {

/// Later releases add more.
enum class problem_kind : std::uint8_t {
  holder_dead,       ///< a process ended or died with work in its name
  run_overdue,       ///< in hand of a live process, past its deadline
  run_unknown,       ///< an at-most-once step's outcome is unknown
  schedule_late,     ///< a tick waits, and no node launches it or goes on with it
  schedule_paused,   ///< ticks go by
  queue_not_worked,  ///< tasks are due, and no live process has any of the queue in hand
  queue_paused,      ///< tasks are due
  tasks_dead,
  tasks_unknown,
  plan_late,     ///< a pass waits, and no node makes it
  plan_failing,  ///< its last pass failed
};
/// As it is written in JSON: "queue_not_worked".
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(problem_kind kind) noexcept;

/// Act now: work is not done. Look today: a person has stopped it, or has to decide.
enum class urgency : std::uint8_t { act_now, look_today };
/// "act now", "look today".
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(urgency level) noexcept;

struct problem {
  problem_kind kind{};
  daybook::urgency urgency{};
  std::string subject;             ///< what it is about: "schedule nightly"
  std::optional<timestamp> since;  ///< empty: the book does not say
  std::string why;                 ///< with the numbers, for people
  std::string remedy;              ///< begins with the command that mends it
};

struct problem_options {
  /// So long may ticks, tasks (beyond their queue's grain) and passes wait, before it is a problem.
  std::chrono::milliseconds patience = std::chrono::minutes{1};
};

}  // namespace v1
}  // namespace daybook
