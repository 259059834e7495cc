// Instants and lengths of time. Every instant in Daybook is the database's clock, microseconds
// since 1970 in UTC; units live in the types, never in a number's name.
// Thread safety: values.
#pragma once

#include <chrono>

namespace daybook {
inline namespace v1 {

/// An instant by the database's clock. SQLite's clock ticks in milliseconds, the servers' in
/// microseconds.
using timestamp = std::chrono::sys_time<std::chrono::microseconds>;

}  // namespace v1
}  // namespace daybook
