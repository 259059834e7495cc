// What SQLite's result codes mean.
// Thread-safe.
#pragma once

#include <daybook/error.hpp>

#include <string_view>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// Of a result code, extended or not; without its text and its number.
[[nodiscard]] error_facts classify_sqlite(int code);
/// What a person can do about it; empty when nothing is known to help.
[[nodiscard]] std::string_view sqlite_remedy(error_facts const& facts);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
