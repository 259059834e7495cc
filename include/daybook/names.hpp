// Names of things: which kind of work, and which piece of it. Two types, so that they cannot be
// swapped. Thread safety: values.
//
//   daybook::process const invoicing{"invoicing"};
//   daybook::key const customer{"customer/42"};
#pragma once

#include <daybook/detail/export.hpp>

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {

/// The longest name or key, in bytes. Compared byte by byte on every engine.
inline constexpr std::size_t longest_name = 255;

/// Throws daybook::error (error_code::bad_argument) unless `text` is 1 to 255 bytes of valid UTF-8
/// without control characters. `description` names the thing in the message ("process name").
DAYBOOK_EXPORT void check_name(std::string_view description, std::string_view text);

/// A named kind of work: "upload-recordings".
class DAYBOOK_EXPORT process {
 public:
  /// On failure: throws daybook::error as check_name does.
  explicit process(std::string name);
  [[nodiscard]] std::string const& str() const noexcept { return text_; }
  auto operator<=>(process const&) const = default;

 private:
  std::string text_;
};

/// One piece of a kind of work: a partition, a date, an order number.
class DAYBOOK_EXPORT key {
 public:
  /// The key of a process that has only one piece: "-".
  key() : text_("-") {}
  /// On failure: throws daybook::error as check_name does.
  explicit key(std::string text);
  [[nodiscard]] std::string const& str() const noexcept { return text_; }
  auto operator<=>(key const&) const = default;

 private:
  std::string text_;
};

}  // namespace v1
}  // namespace daybook
