// The platform: every call to the operating system that is not a driver's or the command's.
// Linux and POSIX first. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace daybook {
inline namespace v1 {
namespace base {

/// Time since boot, counting sleep: what a lease is measured by on this side. A suspended laptop
/// must find its leases over when it wakes, which CLOCK_MONOTONIC does not show.
struct boot_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<boot_clock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept;
};

[[nodiscard]] std::string host_name();
[[nodiscard]] std::int64_t process_id() noexcept;
/// Fills `out` from the kernel's generator.
void random_bytes(unsigned char* out, std::size_t size);
/// A fraction of `at_most`, uniformly: for pauses that must not meet.
[[nodiscard]] std::chrono::milliseconds jitter(std::chrono::milliseconds at_most);
/// "nfs", "fuse.sshfs", ... when the file (or its folder) is on a file system of another machine,
/// whose locks SQLite cannot trust; empty when it is local.
[[nodiscard]] std::string network_file_system(std::string const& path);
/// The same by the number that statfs(2) gives.
[[nodiscard]] std::string network_file_system_of(std::uint32_t magic);

[[noreturn]] void kill_self() noexcept;
void stop_self() noexcept;

}  // namespace base
}  // namespace v1
}  // namespace daybook
