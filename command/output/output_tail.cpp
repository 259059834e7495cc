#include "output/output_tail.hpp"

#include <algorithm>

namespace command {

void output_tail::add(char const* data, std::size_t size) noexcept {
  auto const skip = size - std::min(size, longest);
  auto const at = written_.fetch_add(size) + skip;
  for (std::size_t i = skip; i < size; ++i) bytes_[(at + i - skip) % longest] = data[i];
}

std::string output_tail::text() const {
  auto const total = written_.load();
  if (total <= longest) return {bytes_.data(), static_cast<std::size_t>(total)};
  auto const begin = static_cast<std::size_t>(total % longest);
  std::string out(bytes_.data() + begin, longest - begin);
  out.append(bytes_.data(), begin);
  // The rest of a character that began before.
  std::size_t cut = 0;
  while (cut < 3 && (static_cast<unsigned char>(out[cut]) & 0xc0U) == 0x80U) ++cut;
  return out.substr(cut);
}

}  // namespace command
