#include "verbs/hooks/sign.hpp"

#include "cli/format.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace command {

namespace {

unsigned char const* bytes_of(std::string_view text) {
  return reinterpret_cast<unsigned char const*>(text.data());
}

/// Empty: it is none.
std::string from_base64(std::string_view text) {
  std::string out(text.size() / 4 * 3, '\0');
  auto const size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes_of(text),
                                    static_cast<int>(text.size()));
  if (size < 0) return {};
  auto const padding = text.ends_with("==") ? 2U : text.ends_with('=') ? 1U : 0U;
  out.resize(static_cast<std::size_t>(size) - padding);
  return out;
}

}  // namespace

std::string read_secret(std::string const& file) {
  std::ifstream input(file);
  std::string out;
  if (!std::getline(input, out) || out.empty()) {
    throw std::runtime_error(
        fmt::format("secret_file {}: it cannot be read, or is empty", printable(file)));
  }
  constexpr std::string_view prefix = "whsec_";
  if (!out.starts_with(prefix)) return out;
  auto const key = from_base64(std::string_view(out).substr(prefix.size()));
  if (key.empty()) {
    throw std::runtime_error(
        fmt::format("secret_file {}: base64 is wanted after whsec_", printable(file)));
  }
  return key;
}

std::string signature_of(std::string_view secret, std::string_view id, std::string_view seconds,
                         std::string_view body) {
  auto const text = fmt::format("{}.{}.{}", id, seconds, body);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes_of(text),
           text.size(), digest.data(), &size) == nullptr) {
    throw std::runtime_error("OpenSSL computes no HMAC-SHA256");
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE * 2> encoded{};
  auto const length = EVP_EncodeBlock(encoded.data(), digest.data(), static_cast<int>(size));
  return "v1," + std::string(reinterpret_cast<char const*>(encoded.data()),
                             static_cast<std::size_t>(length));
}

}  // namespace command
