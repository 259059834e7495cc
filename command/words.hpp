// Words, and what they stand for: as people, programs and daybook.toml write them.
// Thread safety: values.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace command {

template <class T, std::size_t N>
using words_for = std::array<std::pair<std::string_view, T>, N>;

/// The word of a value.
template <class T, std::size_t N>
[[nodiscard]] constexpr std::string_view word_in(words_for<T, N> const& words, T value) noexcept {
  for (auto const& [word, meant] : words) {
    if (meant == value) return word;
  }
  return "?";
}

}  // namespace command
