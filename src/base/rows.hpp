// Rows as one value of a statement: the text of a JSON array of arrays, which the SQL of every
// engine takes apart again (json_table, json_array_elements, daybook_rows).
//
//   base::rows rows;
//   for (auto const& one : members) rows.begin().add(one.id).add(one.key).add(one.payload);
//   auto const text = rows.text();                          // [[7,"blue",null],[8,"red","{}"]]
//   db::run(on, sql["member.add_all"], {queue, std::string_view(text)});
//
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
  /// The next row; add() its values in the order of the columns.
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
  /// `text` is UTF-8, which is not looked at here, without a zero byte.
  rows& add(std::string_view text);
  /// Null where it is empty.
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

/// The other way round, of rows that have numbers only, as a claim keeps its ranges: all of them,
/// one after the other. On failure: daybook::error (error_code::internal), for nobody else writes
/// such texts.
[[nodiscard]] std::vector<std::int64_t> numbers_in(std::string_view text);

}  // namespace base
}  // namespace v1
}  // namespace daybook
