// Named places where a test makes the process die, stop or lose its connection. Off, each costs
// one load and one branch. One failpoint is armed at a time, in the whole process; another may
// follow it.
// Thread-safe.
#pragma once

#include <daybook/detail/failpoint_types.hpp>

#include <atomic>
#include <span>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace base {

/// Every name there is; hit() of another is an assertion.
[[nodiscard]] std::span<std::string_view const> failpoint_names() noexcept;
[[nodiscard]] std::span<std::string_view const> failpoint_names(
    testing::failpoint_room room) noexcept;
[[nodiscard]] bool is_failpoint(std::string_view name) noexcept;

void arm_failpoint(std::string_view name, testing::failpoint_action action, unsigned skip);
/// The same once the armed one has acted: for what goes wrong twice.
void arm_next_failpoint(std::string_view name, testing::failpoint_action action);
void disarm_failpoint() noexcept;

extern std::atomic<bool> failpoint_armed;
[[nodiscard]] bool hit_armed_failpoint(std::string_view name);

/// True: the caller shall cut its connection. Throws daybook::error for `fail`.
[[nodiscard]] inline bool hit_failpoint(std::string_view name) {
  return failpoint_armed.load(std::memory_order_relaxed) && hit_armed_failpoint(name);
}

}  // namespace base
}  // namespace v1
}  // namespace daybook
