// Numbers from text, whole or not at all.
// Thread-safe.
//
//   auto const seconds = base::number_of(text).value_or(0);
//   auto const port = base::number_of<std::uint16_t>(text);
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace daybook {
inline namespace v1 {
namespace base {

/// The number that the whole text is, in decimal digits. Empty: it is none, or there is more than
/// a number, or it is beyond what a Number holds.
template <class Number = std::int64_t>
[[nodiscard]] std::optional<Number> number_of(std::string_view text) noexcept {
  Number out{};
  auto const* const end = text.data() + text.size();
  auto const [at, failed] = std::from_chars(text.data(), end, out);
  return failed == std::errc() && at == end ? std::optional(out) : std::nullopt;
}

}  // namespace base
}  // namespace v1
}  // namespace daybook
