// The local times that a cron expression names, on a calendar without zones.
// Thread-safe.
#pragma once

#include <daybook/detail/cron_fields.hpp>

#include <chrono>
#include <optional>

namespace daybook {
inline namespace v1 {
namespace calendar {

inline constexpr std::chrono::year first_year{1};
inline constexpr std::chrono::year last_year{9999};

/// The first one not before `from`; empty: none in the years there are.
[[nodiscard]] std::optional<std::chrono::local_seconds> match_from(cron_fields const& said,
                                                                   std::chrono::local_seconds from);
/// The last one not after `from`.
[[nodiscard]] std::optional<std::chrono::local_seconds> match_until(
    cron_fields const& said, std::chrono::local_seconds from);

}  // namespace calendar
}  // namespace v1
}  // namespace daybook
