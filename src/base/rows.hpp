// Rows as one value of a statement: a JSON array of arrays, which every engine takes apart.
// Thread safety: one thread.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace base {

class rows {
 public:
  rows& begin() {
    text_.append(empty_ ? "[" : "],[");
    empty_ = false;
    first_ = true;
    return *this;
  }
  rows& add(std::int64_t number) {
    next();
    std::array<char, 20> room{};
    auto const end = std::to_chars(room.data(), room.data() + room.size(), number).ptr;
    text_.append(room.data(), end);
    return *this;
  }
  /// UTF-8 without a zero byte.
  rows& add(std::string_view text);
  template <class T>
  rows& add(std::optional<T> const& value) {
    if (value) return add(*value);
    next();
    text_.append("null");
    return *this;
  }

  [[nodiscard]] bool empty() const noexcept { return empty_; }
  [[nodiscard]] std::string text() const { return text_ + (empty_ ? "]" : "]]"); }

 private:
  void next() {
    if (!first_) text_.push_back(',');
    first_ = false;
  }

  std::string text_ = "[";
  bool empty_ = true;
  bool first_ = true;
};

/// The numbers of a JSON array of arrays of numbers, one after the other. Such texts are ours, not
/// the user's. On failure: daybook::error (fault::internal).
[[nodiscard]] std::vector<std::int64_t> numbers_in(std::string_view text);

}  // namespace base
}  // namespace v1
}  // namespace daybook
