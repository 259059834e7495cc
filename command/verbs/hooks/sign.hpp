// Signatures of webhooks as Standard Webhooks has them (standardwebhooks.com): HMAC-SHA256 of
// "ID.SECONDS.BODY". Thread safety: any thread.
#pragma once

#include <string>
#include <string_view>

namespace command {

/// The secret in a file: "whsec_" and base64, or the bytes of its first line. On failure:
/// std::runtime_error.
[[nodiscard]] std::string read_secret(std::string const& file);

/// "v1,BASE64".
[[nodiscard]] std::string signature_of(std::string_view secret, std::string_view id,
                                       std::string_view seconds, std::string_view body);

}  // namespace command
