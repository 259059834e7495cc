#include <daybook/outcome.hpp>

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

}  // namespace v1
}  // namespace daybook
