#include "aggregation/keys.hpp"

#include "base/platform.hpp"

#include <algorithm>
#include <array>

namespace daybook {
inline namespace v1 {
namespace aggregations {

namespace {

constexpr std::int64_t year_2020_ms = 1'577'836'800'000;
constexpr std::size_t characters = 26;
constexpr unsigned random_from = 10;  ///< the character where the time ends

std::uint64_t random_bits() {
  std::array<unsigned char, 8> bytes{};
  base::random_bytes(bytes.data(), bytes.size());
  std::uint64_t out = 0;
  for (auto const one : bytes) out = out << 8U | one;
  return out;
}

}  // namespace

std::vector<std::string> new_texts(std::int64_t now_us, std::size_t count) {
  static constexpr char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  std::vector<std::string> out(count);
  for (auto& one : out) {
    one.resize(characters);
    auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(now_us / 1000, 0));
    for (unsigned at = random_from; at-- > 0; time >>= 5U) one[at] = digits[time & 31U];
    std::array<unsigned char, characters - random_from> bytes{};
    base::random_bytes(bytes.data(), bytes.size());
    for (unsigned at = 0; at < bytes.size(); ++at) one[random_from + at] = digits[bytes[at] & 31U];
  }
  return out;
}

std::vector<std::int64_t> numbers::next(std::int64_t now_us, std::size_t count) {
  auto const ms =
      static_cast<std::uint64_t>(std::max<std::int64_t>(now_us / 1000 - year_2020_ms, 0));
  auto first = (ms << 22U) | (random_bits() & 0x3fffffU);
  // With a gap: who has met somebody else's is out of their way the next time.
  if (first <= last_) first = last_ + 1 + (random_bits() & 0xfffffU);
  first &= 0x7fffffffffffffffU;
  last_ = first + count;
  std::vector<std::int64_t> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::int64_t>(first + i);
  return out;
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
