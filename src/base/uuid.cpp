#include "base/uuid.hpp"

#include "base/platform.hpp"

#include <array>
#include <chrono>
#include <cstdint>

namespace daybook {
inline namespace v1 {
namespace base {

std::string new_uuid() {
  std::array<unsigned char, 16> bytes{};
  random_bytes(bytes.data() + 6, bytes.size() - 6);
  auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count();
  for (unsigned i = 0; i < 6; ++i) {
    bytes[i] = static_cast<unsigned char>(static_cast<std::uint64_t>(ms) >> (40 - 8 * i));
  }
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0fU) | 0x70U);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3fU) | 0x80U);
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (unsigned i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text.push_back('-');
    text.push_back(digits[bytes[i] >> 4U]);
    text.push_back(digits[bytes[i] & 0x0fU]);
  }
  return text;
}

}  // namespace base
}  // namespace v1
}  // namespace daybook
