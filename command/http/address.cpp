#include "http/address.hpp"

#include <algorithm>

#include <arpa/inet.h>

namespace command {

namespace {

constexpr ip_address mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0};

}  // namespace

std::optional<ip_address> ip_from(std::string_view text) {
  std::string const whole(text);
  ip_address out = mapped;
  if (::inet_pton(AF_INET, whole.c_str(), out.data() + 12) == 1) return out;
  if (::inet_pton(AF_INET6, whole.c_str(), out.data()) == 1) return out;
  return std::nullopt;
}

bool is_loopback(ip_address const& address) noexcept {
  constexpr ip_address six{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  bool const four = std::equal(mapped.begin(), mapped.begin() + 12, address.begin());
  return address == six || (four && address[12] == 127);
}

bool ip_block::has(ip_address const& address) const noexcept {
  for (int bit = 0; bit < bits; ++bit) {
    auto const at = static_cast<std::size_t>(bit / 8);
    auto const mask = static_cast<unsigned char>(0x80U >> static_cast<unsigned>(bit % 8));
    if (((first.at(at) ^ address.at(at)) & mask) != 0) return false;
  }
  return true;
}

std::optional<ip_block> ip_block_from(std::string_view text) {
  auto const slash = text.find('/');
  auto const address = ip_from(text.substr(0, slash));
  if (!address) return std::nullopt;
  ip_block out{*address, 128};
  if (slash == std::string_view::npos) return out;
  bool const four = text.substr(0, slash).find(':') == std::string_view::npos;
  auto const digits = text.substr(slash + 1);
  if (digits.empty() || digits.size() > 3 ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  auto const bits = std::stoi(std::string(digits)) + (four ? 96 : 0);
  if (bits > 128) return std::nullopt;
  out.bits = bits;
  return out;
}

}  // namespace command
