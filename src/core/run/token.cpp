#include "core/run/token.hpp"

#include "base/numbers.hpp"

#include <daybook/error.hpp>

#include <vector>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

constexpr std::string_view digits = "0123456789abcdef";

std::string to_hex(std::string_view bytes) {
  std::string out;
  for (char const c : bytes) {
    auto const byte = static_cast<unsigned char>(c);
    out.push_back(digits[byte >> 4U]);
    out.push_back(digits[byte & 15U]);
  }
  return out;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    auto const high = digits.find(text[at]);
    auto const low = digits.find(text[at + 1]);
    if (high == digits.npos || low == digits.npos) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
  }
  return out;
}

}  // namespace

std::string write_token(run_identity const& identity, acquisition const& held) {
  return "1." + to_hex(identity.process.str()) + "." + to_hex(identity.key.str()) + "." +
         std::to_string(identity.number) + "." + std::to_string(identity.attempt) + "." +
         std::to_string(held.epoch) + "." + held.uuid;
}

std::optional<token> read_token(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto const dot = text.find('.');
    parts.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) break;
    text.remove_prefix(dot + 1);
  }
  if (parts.size() != 7 || parts[0] != "1" || parts[6].size() != 36) return std::nullopt;
  auto const process_name = from_hex(parts[1]);
  auto const piece = from_hex(parts[2]);
  auto const number = base::number_of(parts[3]);
  auto const attempt = base::number_of(parts[4]);
  auto const epoch = base::number_of(parts[5]);
  if (!process_name || !piece || !number || !attempt || !epoch) return std::nullopt;
  try {
    return token{{process(*process_name), key(*piece), *number, *attempt},
                 {*epoch, std::string(parts[6]), 0}};
  } catch (error const&) {
    return std::nullopt;  // no name of ours
  }
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
