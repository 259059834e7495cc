// A short text that stands for a longer one, the same on every machine and in every version.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace base {

/// base32 (RFC 4648, lower case, without padding) of the SHA-256 of the parts, each preceded by
/// its length, so that no two lists of parts are the same bytes. 52 characters.
[[nodiscard]] std::string digest(std::initializer_list<std::string_view> parts);

}  // namespace base
}  // namespace v1
}  // namespace daybook
