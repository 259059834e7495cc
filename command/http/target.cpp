#include "http/target.hpp"

#include "http/message.hpp"

#include <cctype>
#include <cstdint>

namespace command {

namespace {

[[noreturn]] void refuse_part(std::string const& why) { throw refusal(400, "bad-argument", why); }

int value_of_base64url(char one) noexcept {
  if (one >= 'A' && one <= 'Z') return one - 'A';
  if (one >= 'a' && one <= 'z') return one - 'a' + 26;
  if (one >= '0' && one <= '9') return one - '0' + 52;
  if (one == '-') return 62;
  return one == '_' ? 63 : -1;
}

int value_of_hex(char one) noexcept {
  if (one >= '0' && one <= '9') return one - '0';
  if (one >= 'a' && one <= 'f') return one - 'a' + 10;
  return one >= 'A' && one <= 'F' ? one - 'A' + 10 : -1;
}

std::string plain_part(std::string_view part) {
  for (char const one : part) {
    bool const fits = std::isalnum(static_cast<unsigned char>(one)) != 0 || one == '.' ||
                      one == '_' || one == '-';
    if (!fits)
      refuse_part(
          "A part of the path has a sign other than letters, digits, dots, _ and -: "
          "write it as ~ and base64url.");
  }
  if (part.starts_with('.'))
    refuse_part("A part of the path begins with a dot: write it as ~ and base64url.");
  return std::string(part);
}

std::string coded_part(std::string_view part) {
  auto out = from_base64url(part.substr(1));
  if (!out || out->empty() || !is_text(*out))
    refuse_part("A part of the path is ~ and no base64url of UTF-8.");
  return std::move(*out);
}

std::string form_decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '+') {
      out.push_back(' ');
    } else if (text[at] == '%') {
      auto const high = at + 2 < text.size() ? value_of_hex(text[at + 1]) : -1;
      auto const low = at + 2 < text.size() ? value_of_hex(text[at + 2]) : -1;
      if (high < 0 || low < 0) refuse_part("The query has a % without two hexadecimal digits.");
      out.push_back(static_cast<char>(high * 16 + low));
      at += 2;
    } else {
      out.push_back(text[at]);
    }
  }
  if (!is_text(out)) refuse_part("The query is not UTF-8, or has a NUL.");
  return out;
}

}  // namespace

std::optional<std::string> from_base64url(std::string_view text) {
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out;
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (char const one : text) {
    auto const value = value_of_base64url(one);
    if (value < 0) return std::nullopt;
    held = (held << 6U) | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out.push_back(static_cast<char>((held >> bits) & 0xffU));
    }
  }
  if ((held & ((1U << bits) - 1U)) != 0) return std::nullopt;
  return out;
}

std::string to_base64url(std::string_view bytes) {
  constexpr std::string_view signs =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (char const one : bytes) {
    held = (held << 8U) | static_cast<unsigned char>(one);
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      out.push_back(signs[(held >> bits) & 63U]);
    }
  }
  if (bits > 0) out.push_back(signs[(held << (6U - bits)) & 63U]);
  return out;
}

bool is_text(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    auto const first = static_cast<unsigned char>(text[at]);
    if (first == 0) return false;
    std::size_t const size = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
    if (size == 0 || at + size > text.size()) return false;
    std::uint32_t point = size == 1 ? first : first & (0x7fU >> size);
    for (std::size_t more = 1; more < size; ++more) {
      auto const next = static_cast<unsigned char>(text[at + more]);
      if ((next & 0xc0U) != 0x80U) return false;
      point = (point << 6U) | (next & 0x3fU);
    }
    if ((size == 3 && (point < 0x800 || (point >= 0xd800 && point <= 0xdfff))) ||
        (size == 4 && (point < 0x10000 || point > 0x10ffff))) {
      return false;
    }
    at += size;
  }
  return true;
}

http_target read_target(std::string_view target) {
  http_target out;
  auto const mark = target.find('?');
  auto path = target.substr(0, mark);
  path.remove_prefix(1);
  while (!path.empty()) {
    auto const slash = path.find('/');
    auto const part = path.substr(0, slash);
    if (part.empty() || slash + 1 == path.size()) refuse_part("A part of the path is empty.");
    bool const coded = part.starts_with('~');
    out.parts.push_back(coded ? coded_part(part) : plain_part(part));
    out.coded.push_back(coded);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  if (mark == std::string_view::npos) return out;
  auto query = target.substr(mark + 1);
  while (!query.empty()) {
    auto const end = query.find('&');
    auto const one = query.substr(0, end);
    auto const equals = one.find('=');
    if (equals == std::string_view::npos) refuse_part("A part of the query has no =.");
    out.query.emplace_back(form_decoded(one.substr(0, equals)),
                           form_decoded(one.substr(equals + 1)));
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
  }
  return out;
}

}  // namespace command
