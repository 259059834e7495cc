#include <daybook/words.hpp>

namespace daybook {
inline namespace v1 {

std::string_view word_of(run_state state) noexcept {
  switch (state) {
    case run_state::ready: return "ready";
    case run_state::running: return "running";
    case run_state::succeeded: return "succeeded";
    case run_state::failed: return "failed";
    case run_state::interrupted: return "interrupted";
    case run_state::deadline_passed: return "deadline-passed";
    case run_state::unknown: return "unknown";
    case run_state::discarded: return "discarded";
  }
  return "?";
}

std::string_view word_of(step_mode mode) noexcept {
  switch (mode) {
    case step_mode::unrecorded: return "";
    case step_mode::tx: return "tx";
    case step_mode::at_least_once: return "at-least-once";
    case step_mode::at_most_once: return "at-most-once";
  }
  return "?";
}

std::string_view word_of(period_anchor value) noexcept {
  switch (value) {
    case period_anchor::from_turn: return "from-turn";
    case period_anchor::from_finish: return "from-finish";
  }
  return "?";
}

std::string_view word_of(new_member_policy value) noexcept {
  switch (value) {
    case new_member_policy::next_round: return "next-round";
    case new_member_policy::now: return "now";
  }
  return "?";
}

std::string_view word_of(beginning value) noexcept {
  switch (value) {
    case beginning::with_claim: return "with-claim";
    case beginning::announced: return "announced";
  }
  return "?";
}

std::string_view word_of(result::kind value) noexcept {
  switch (value) {
    case result::kind::success: return "success";
    case result::kind::failure: return "failure";
    case result::kind::snooze: return "snooze";
    case result::kind::cancel: return "cancel";
    case result::kind::unknown: return "unknown";
  }
  return "?";
}

std::string_view word_of(task_request value) noexcept {
  switch (value) {
    case task_request::run_now: return "run-now";
    case task_request::retry: return "retry";
    case task_request::discard: return "discard";
    case task_request::was_done: return "was-done";
    case task_request::was_not_done: return "was-not-done";
  }
  return "?";
}

std::string_view word_of(stop_reason value) noexcept {
  switch (value) {
    case stop_reason::none: return "none";
    case stop_reason::timeout: return "timeout";
    case stop_reason::lost: return "lost";
    case stop_reason::closing: return "closing";
  }
  return "?";
}

std::string_view word_of(gap value) noexcept {
  switch (value) {
    case gap::after: return "after";
    case gap::skip: return "skip";
  }
  return "?";
}

std::string_view word_of(fold value) noexcept {
  switch (value) {
    case fold::first: return "first";
    case fold::second: return "second";
    case fold::both: return "both";
  }
  return "?";
}

std::string_view word_of(local_meaning::kind value) noexcept {
  switch (value) {
    case local_meaning::kind::once: return "once";
    case local_meaning::kind::never: return "never";
    case local_meaning::kind::twice: return "twice";
  }
  return "?";
}

std::string_view word_of(catch_up value) noexcept {
  switch (value) {
    case catch_up::last: return "last";
    case catch_up::all: return "all";
    case catch_up::skip: return "skip";
  }
  return "?";
}

std::string_view word_of(overlap value) noexcept {
  switch (value) {
    case overlap::skip: return "skip";
    case overlap::queue: return "queue";
  }
  return "?";
}

std::string_view word_of(tick_state value) noexcept {
  switch (value) {
    case tick_state::due: return "due";
    case tick_state::running: return "running";
    case tick_state::done: return "done";
    case tick_state::failed: return "failed";
    case tick_state::skipped: return "skipped";
  }
  return "?";
}

std::string_view word_of(schedule_state value) noexcept {
  switch (value) {
    case schedule_state::active: return "active";
    case schedule_state::paused: return "paused";
    case schedule_state::removed: return "removed";
  }
  return "?";
}

std::string_view word_of(launch_rule value) noexcept {
  switch (value) {
    case launch_rule::once: return "once";
    case launch_rule::no_overlap: return "no-overlap";
    case launch_rule::after_failure: return "after-failure";
    case launch_rule::always: return "always";
  }
  return "?";
}

std::string_view word_of(window_strategy::unit value) noexcept {
  switch (value) {
    case window_strategy::unit::minute: return "minute";
    case window_strategy::unit::hour: return "hour";
    case window_strategy::unit::day: return "day";
    case window_strategy::unit::month: return "month";
  }
  return "?";
}

std::string_view word_of(isolation value) noexcept {
  switch (value) {
    case isolation::read_committed: return "read-committed";
    case isolation::repeatable_read: return "repeatable-read";
    case isolation::serializable: return "serializable";
  }
  return "?";
}

std::string_view word_of(fence_position value) noexcept {
  switch (value) {
    case fence_position::last: return "last";
    case fence_position::first: return "first";
  }
  return "?";
}

std::string_view word_of(start_refusal value) noexcept {
  switch (value) {
    case start_refusal::running_elsewhere: return "running-elsewhere";
    case start_refusal::done_before: return "done-before";
    case start_refusal::unknown_outcome: return "unknown-outcome";
    case start_refusal::other_date: return "other-date";
  }
  return "?";
}

std::string_view word_of(outcome value) noexcept {
  switch (value) {
    case outcome::done: return "done";
    case outcome::skipped: return "skipped";
    case outcome::lost: return "lost";
    case outcome::unknown: return "unknown";
  }
  return "?";
}

std::string_view word_of(commit_outcome value) noexcept {
  switch (value) {
    case commit_outcome::committed: return "committed";
    case commit_outcome::rolled_back: return "rolled-back";
    case commit_outcome::lost: return "lost";
  }
  return "?";
}

std::string_view word_of(error_code value) noexcept {
  switch (value) {
    case error_code::bad_argument: return "bad-argument";
    case error_code::unreachable: return "unreachable";
    case error_code::not_permitted: return "not-permitted";
    case error_code::configuration: return "configuration";
    case error_code::read_only: return "read-only";
    case error_code::full: return "full";
    case error_code::io: return "io";
    case error_code::conflict: return "conflict";
    case error_code::constraint: return "constraint";
    case error_code::statement: return "statement";
    case error_code::forked: return "forked";
    case error_code::closed: return "closed";
    case error_code::internal: return "internal";
  }
  return "?";
}

std::string_view word_of(severity value) noexcept {
  switch (value) {
    case severity::ok: return "ok";
    case severity::warning: return "warning";
    case severity::failed: return "void";
  }
  return "?";
}

std::string_view word_of(work_kind value) noexcept {
  switch (value) {
    case work_kind::run: return "run";
    case work_kind::tasks: return "tasks";
  }
  return "?";
}

std::string_view word_of(lease_state value) noexcept {
  switch (value) {
    case lease_state::held: return "held";
    case lease_state::lost: return "lost";
  }
  return "?";
}

std::string_view word_of(change_outcome value) noexcept {
  switch (value) {
    case change_outcome::changed: return "changed";
    case change_outcome::unchanged: return "unchanged";
    case change_outcome::no_such_run: return "no-such-run";
  }
  return "?";
}

std::string_view word_of(effect_state value) noexcept {
  switch (value) {
    case effect_state::done: return "done";
    case effect_state::not_done: return "not-done";
  }
  return "?";
}

std::string_view word_of(intake_state value) noexcept {
  switch (value) {
    case intake_state::active: return "active";
    case intake_state::paused: return "paused";
    case intake_state::stopped: return "stopped";
  }
  return "?";
}

std::string_view word_of(message_identity::from value) noexcept {
  switch (value) {
    case message_identity::from::id: return "id";
    case message_identity::from::key: return "key";
    case message_identity::from::position: return "position";
    case message_identity::from::header: return "header";
    case message_identity::from::digest: return "digest";
  }
  return "?";
}

std::string_view word_of(payload_form value) noexcept {
  switch (value) {
    case payload_form::text: return "text";
    case payload_form::base64: return "base64";
  }
  return "?";
}

std::string_view word_of(log_begin value) noexcept {
  switch (value) {
    case log_begin::beginning: return "beginning";
    case log_begin::end: return "end";
  }
  return "?";
}

std::string_view word_of(gap_policy value) noexcept {
  switch (value) {
    case gap_policy::stop: return "stop";
    case gap_policy::skip: return "skip";
  }
  return "?";
}

std::string_view word_of(failure_policy value) noexcept {
  switch (value) {
    case failure_policy::stop: return "stop";
    case failure_policy::refuse: return "refuse";
  }
  return "?";
}

std::string_view word_of(take_until value) noexcept {
  switch (value) {
    case take_until::end: return "end";
    case take_until::stop: return "stop";
  }
  return "?";
}

}  // namespace v1
}  // namespace daybook
