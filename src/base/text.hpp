// Text that people gave us: is it UTF-8, does it hold control characters, cut it where it is long;
// as JSON, and as one of a list.
// Thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace base {

/// Where the first byte stands that is not part of well-formed UTF-8; npos when all is.
[[nodiscard]] std::size_t first_invalid_utf8(std::string_view text) noexcept;
/// Where the first control character stands (C0, DEL, C1); npos when there is none.
[[nodiscard]] std::size_t first_control(std::string_view text) noexcept;
/// At most `limit` bytes of valid UTF-8; what is not valid becomes '?', NUL too; a cut is shown
/// by "...".
[[nodiscard]] std::string bounded(std::string_view text, std::size_t limit);

/// As JSON has it, in quotes. Precondition: UTF-8 without a zero byte.
[[nodiscard]] std::string json_text(std::string_view text);
/// The same, behind what is there.
void add_json_text(std::string& output, std::string_view text);

/// "a, b, c".
[[nodiscard]] std::string listed(std::span<std::string const> all,
                                 std::string_view separator = ", ");

}  // namespace base
}  // namespace v1
}  // namespace daybook
