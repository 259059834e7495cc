// Whole numbers as people write them: digits, with no sign and no space.
// Thread safety: values.
//
//   auto const size = number_in_front("30s");  // 30, "s"
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace command {

struct leading_number {
  std::int64_t number;
  std::string_view rest;  ///< what stands behind it, of the text that was given
};

/// Empty: there is none in front, or one of more than 63 bits.
[[nodiscard]] std::optional<leading_number> number_in_front(std::string_view text) noexcept;

/// Empty: it is anything else, or more than 63 bits.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text) noexcept;

}  // namespace command
