#include "base/text.hpp"

#include <array>
#include <cstdint>

namespace daybook {
inline namespace v1 {
namespace base {

namespace {

/// How long the well-formed sequence at the front of `text` is; 0 when there is none.
/// Table 3-7 of the Unicode standard.
std::size_t sequence(std::string_view text) noexcept {
  auto const byte = [&](std::size_t offset) -> unsigned {
    return offset < text.size() ? static_cast<unsigned char>(text[offset]) : 0U;
  };
  auto const tail = [&](std::size_t offset) { return (byte(offset) & 0xc0U) == 0x80U; };
  auto const first = byte(0);
  auto const second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    bool const overlong = first == 0xe0 && second < 0xa0;
    bool const surrogate = first == 0xed && second > 0x9f;
    return tail(1) && tail(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    bool const overlong = first == 0xf0 && second < 0x90;
    bool const beyond = first == 0xf4 && second > 0x8f;
    return tail(1) && tail(2) && tail(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::size_t first_invalid_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    auto const length = sequence(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::size_t first_control(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto const byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 || byte == 0x7f) return at;
    // C1 controls are U+0080 to U+009F: c2 80 to c2 9f.
    if (byte == 0xc2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xa0) {
      return at;
    }
  }
  return std::string_view::npos;
}

std::string bounded(std::string_view text, std::size_t limit) {
  constexpr std::string_view mark = "...";
  // What is not valid becomes one byte for one: the length stays.
  bool const fits = text.size() <= limit;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    auto const length = sequence(text.substr(at));
    auto const piece =
        length == 0 || text[at] == '\0' ? std::string_view("?") : text.substr(at, length);
    if (!fits && out.size() + piece.size() + mark.size() > limit) {
      return out.append(mark);
    }
    out.append(piece);
    at += length == 0 ? 1 : length;
  }
  return out;
}

void add_json_text(std::string& output, std::string_view text) {
  static constexpr std::array<char, 16> digits{'0', '1', '2', '3', '4', '5', '6', '7',
                                               '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
  output.push_back('"');
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      output.push_back('\\');
      output.push_back(c);
    } else if (byte < 0x20) {
      output.append("\\u00");
      output.push_back(digits[byte >> 4U]);
      output.push_back(digits[byte & 0xfU]);
    } else {
      output.push_back(c);
    }
  }
  output.push_back('"');
}

std::string json_text(std::string_view text) {
  std::string out;
  add_json_text(out, text);
  return out;
}

std::string listed(std::span<std::string const> all, std::string_view separator) {
  std::string out;
  for (auto const& one : all) {
    if (!out.empty()) out.append(separator);
    out.append(one);
  }
  return out;
}

}  // namespace base
}  // namespace v1
}  // namespace daybook
