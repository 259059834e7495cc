// Words, and what they stand for: as people, programs and daybook.toml write them.
// Thread safety: values.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace command {

template <class T, std::size_t N>
using words_for = std::array<std::pair<std::string_view, T>, N>;

/// The library's words for these values.
template <class T, std::size_t N>
[[nodiscard]] words_for<T, N> words_of(T const (&values)[N]) {
  words_for<T, N> out;
  for (std::size_t at = 0; at < N; ++at) out[at] = {word_of(values[at]), values[at]};
  return out;
}

/// The word of a value.
template <class T, std::size_t N>
[[nodiscard]] constexpr std::string_view word_in(words_for<T, N> const& words, T value) noexcept {
  for (auto const& [word, meant] : words) {
    if (meant == value) return word;
  }
  return "?";
}

/// The value of a word. Empty: it is none of them.
template <class T, std::size_t N>
[[nodiscard]] constexpr std::optional<T> value_in(words_for<T, N> const& words,
                                                  std::string_view given) noexcept {
  for (auto const& [word, meant] : words) {
    if (word == given) return meant;
  }
  return {};
}

template <class T, std::size_t N>
[[nodiscard]] std::vector<std::string> names_in(words_for<T, N> const& words) {
  std::vector<std::string> out;
  for (auto const& [word, meant] : words) out.emplace_back(word);
  return out;
}

/// All of them, for help and messages: "first, second, both".
template <class T, std::size_t N>
[[nodiscard]] std::string listed(words_for<T, N> const& words) {
  std::string out;
  for (auto const& [word, meant] : words) out.append(out.empty() ? "" : ", ").append(word);
  return out;
}

}  // namespace command
