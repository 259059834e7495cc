#include "verbs/hooks/address.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace command {

namespace {

using bytes = std::array<std::uint8_t, 16>;

/// An IPv6 address; one of IPv4 as ::ffff:a.b.c.d.
struct range {
  char const* text;
  int bits;
};

constexpr std::array<range, 2> loopback{{{"::ffff:127.0.0.0", 104}, {"::1", 128}}};
/// Addresses of no host, of this link, and those where clouds answer with a machine's credentials.
constexpr std::array<range, 11> refused{{{"::ffff:0.0.0.0", 104},
                                         {"::ffff:169.254.0.0", 112},
                                         {"::ffff:224.0.0.0", 99},
                                         {"::ffff:100.100.100.200", 128},
                                         {"::ffff:192.0.0.192", 128},
                                         {"::ffff:168.63.129.16", 128},
                                         {"::", 128},
                                         {"fe80::", 10},
                                         {"ff00::", 8},
                                         {"fd00:ec2::254", 128},
                                         {"fd20:ce::254", 128}}};

bytes parsed(char const* text) {
  bytes out{};
  inet_pton(AF_INET6, text, out.data());
  return out;
}

bool covers(range const& all, bytes const& one) {
  auto const prefix = parsed(all.text);
  auto const whole = static_cast<std::size_t>(all.bits / 8);
  if (!std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(whole), prefix.begin())) {
    return false;
  }
  int const rest = all.bits % 8;
  if (rest == 0) return true;
  auto const mask = static_cast<std::uint8_t>(0xFFU << static_cast<unsigned>(8 - rest));
  return ((one.at(whole) ^ prefix.at(whole)) & mask) == 0;
}

template <std::size_t N>
bool any_covers(std::array<range, N> const& all, bytes const& one) {
  return std::any_of(all.begin(), all.end(), [&](range const& each) { return covers(each, one); });
}

/// One of IPv4 that is carried within IPv6 is that address (NAT64: 64:ff9b::a.b.c.d; and
/// ::a.b.c.d).
bytes unwrapped(bytes const& one) {
  bytes out = parsed("::ffff:0.0.0.0");
  bool const translated = covers({"64:ff9b::", 96}, one);
  bool const old = covers({"::", 96}, one) && !covers({"::", 104}, one);
  if (!translated && !old) return one;
  std::copy(one.begin() + 12, one.end(), out.begin() + 12);
  return out;
}

}  // namespace

std::string why_not_sent_to(sockaddr const& address, reach allowed) {
  bytes one = parsed("::ffff:0.0.0.0");
  if (address.sa_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, &address, sizeof ipv4);
    std::memcpy(one.data() + 12, &ipv4.sin_addr, 4);
  } else if (address.sa_family == AF_INET6) {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, &address, sizeof ipv6);
    std::memcpy(one.data(), &ipv6.sin6_addr, one.size());
    one = unwrapped(one);
  } else {
    return "its address is of no network that we know";
  }
  if (any_covers(loopback, one)) return {};
  if (any_covers(refused, one)) return "its address is of this link or of a cloud's metadata";
  if (allowed == reach::this_host) return "http is for this host only (127.0.0.1): use https";
  return {};
}

}  // namespace command
