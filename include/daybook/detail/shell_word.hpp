// A text as one word of a shell, for commands that messages tell people to run.
// Thread safety: values.
//
//   shell_word("product 42")  // 'product 42'
#pragma once

#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {

/// In quotes where a shell would take the text for something else.
[[nodiscard]] inline std::string shell_word(std::string_view text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,=";
  if (!text.empty() && text.find_first_not_of(plain) == text.npos) return std::string(text);
  std::string out = "'";
  for (char const c : text) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

}  // namespace v1
}  // namespace daybook
