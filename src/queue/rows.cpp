#include "queue/rows.hpp"

#include <array>

namespace daybook {
inline namespace v1 {
namespace queues {

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

}  // namespace queues
}  // namespace v1
}  // namespace daybook
