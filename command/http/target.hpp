// The path and the query of a request: names in them, decoded.
// Thread safety: any thread.
//
//   auto const asked = read_target("/api/v1/queues/~c3RvY2sgMQ/tasks?limit=5");
//   asked.parts  // "api", "v1", "queues", "stock 1", "tasks"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace command {

struct http_target {
  std::vector<std::string> parts;  ///< of the path, decoded
  std::vector<bool> coded;         ///< for each part: it was `~` and base64url
  std::vector<std::pair<std::string, std::string>> query;
};

/// A part is [A-Za-z0-9._-] and does not begin with a dot, or it is `~` and base64url without
/// padding; the query is as forms send it. On failure: throws refusal (400).
[[nodiscard]] http_target read_target(std::string_view target);

/// Empty: it is none. Bits that stand for nothing must be 0, so that a name has one form.
[[nodiscard]] std::optional<std::string> from_base64url(std::string_view text);

[[nodiscard]] std::string to_base64url(std::string_view bytes);

/// Whether it is UTF-8, without NUL, and no code point has two forms.
[[nodiscard]] bool is_text(std::string_view text) noexcept;

}  // namespace command
