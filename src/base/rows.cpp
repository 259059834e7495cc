#include "base/rows.hpp"

#include <daybook/error.hpp>

#include <array>
#include <system_error>

namespace daybook {
inline namespace v1 {
namespace base {

rows& rows::add(std::string_view text) {
  static constexpr std::array<char, 16> digits{'0', '1', '2', '3', '4', '5', '6', '7',
                                               '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
  next();
  text_.push_back('"');
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_.push_back('\\');
      text_.push_back(c);
    } else if (byte < 0x20) {
      text_.append("\\u00");
      text_.push_back(digits[byte >> 4U]);
      text_.push_back(digits[byte & 0xfU]);
    } else {
      text_.push_back(c);
    }
  }
  text_.push_back('"');
  return *this;
}

std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> out;
  auto const* at = text.data();
  auto const* const end = at + text.size();
  while (at != end) {
    if (*at == '[' || *at == ']' || *at == ',' || *at == ' ') {
      ++at;
      continue;
    }
    auto const [next, failed] = std::from_chars(at, end, out.emplace_back());
    if (failed != std::errc()) {
      throw error({.kind = fault::internal},
                  "a claim's ranges are not numbers: it was changed by "
                  "something else than this library");
    }
    at = next;
  }
  return out;
}

}  // namespace base
}  // namespace v1
}  // namespace daybook
