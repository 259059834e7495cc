// Addresses of the other end, and blocks of them.
// Thread safety: values.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace command {

/// IPv4 stands as the IPv6 address that maps it.
using ip_address = std::array<unsigned char, 16>;

/// Empty: it is none.
[[nodiscard]] std::optional<ip_address> ip_from(std::string_view text);
[[nodiscard]] bool is_loopback(ip_address const& address) noexcept;

/// "10.0.0.0/8", "::1", ...
struct ip_block {
  ip_address first{};
  int bits = 128;
  [[nodiscard]] bool has(ip_address const& address) const noexcept;
};
/// Empty: it is none.
[[nodiscard]] std::optional<ip_block> ip_block_from(std::string_view text);

}  // namespace command
