#include "base/digest.hpp"

#include <array>
#include <cstdint>

#include <openssl/sha.h>

namespace daybook {
inline namespace v1 {
namespace base {

std::string digest(std::initializer_list<std::string_view> parts) {
  std::string bytes;
  for (auto const part : parts) {
    bytes += std::to_string(part.size());
    bytes += ':';
    bytes += part;
  }
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
  SHA256(reinterpret_cast<unsigned char const*>(bytes.data()), bytes.size(), hash.data());
  constexpr char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
  std::string text;
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (auto const byte : hash) {
    held = (held << 8U) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text.push_back(digits[(held >> bits) & 31U]);
    }
  }
  if (bits > 0) text.push_back(digits[(held << (5 - bits)) & 31U]);
  return text;
}

}  // namespace base
}  // namespace v1
}  // namespace daybook
