// What a step carries to later attempts: values, and the text that is kept of them.
// Thread safety: values.
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/outcome.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace daybook {
inline namespace v1 {

/// What a step may carry to later attempts: a number, or valid UTF-8 of at most 1 MiB.
template <class T>
concept carried = std::integral<T> || std::same_as<T, std::string> || std::is_void_v<T>;

/// Complains of a value that is not there: daybook::error (error_code::bad_argument).
[[noreturn]] DAYBOOK_EXPORT void complain_of_no_value(outcome instead);

DAYBOOK_EXPORT std::string encode_carried(std::int64_t value);
DAYBOOK_EXPORT void decode_carried(std::string_view text, std::int64_t& value);

/// Calls a body and makes text of what it returns.
template <class F, class With>
std::string call_encoded(F& body, With& member) {
  using answer = std::invoke_result_t<F&, With&>;
  if constexpr (std::is_void_v<answer>) {
    body(member);
    return {};
  } else if constexpr (std::integral<answer>) {
    return encode_carried(static_cast<std::int64_t>(body(member)));
  } else {
    return body(member);
  }
}

}  // namespace v1
}  // namespace daybook
