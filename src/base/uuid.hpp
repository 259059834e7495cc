// UUIDs, version 7 of RFC 9562: they sort by the time they were made.
#pragma once

#include <string>

namespace daybook {
inline namespace v1 {
namespace base {

/// 36 characters, lower case. Thread-safe.
[[nodiscard]] std::string new_uuid();

}  // namespace base
}  // namespace v1
}  // namespace daybook
