// Who may use the console and the HTTP API of a book: tokens of programs, sessions of browsers, and
// codes that are good for one login. The book keeps a digest of each, never the text itself.
// Thread safety: values.
//
//   auto const secret = book.make_token({.name = "grafana", .role = daybook::role::metrics},
//                                       {.actor = "anna", .reason = ""});
//   if (auto const token = book.check_token(secret)) std::cout << token->name << '\n';
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/time.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {

/// A fixed set of permissions. The numbers are in the table and never change.
enum class role : std::uint8_t {
  metrics = 0,  ///< reads metrics
  read = 1,     ///< and all else, without payloads, values and outputs
  work = 2,     ///< adds tasks to queues; reads nothing
  operate = 3,  ///< reads all, and makes changes that lose nothing
  admin = 4,    ///< all
};
/// "metrics", "read", ...
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(role one) noexcept;

/// The numbers are in the table and never change.
enum class token_kind : std::uint8_t {
  token = 0,    ///< of a program, in a header
  session = 1,  ///< of a browser, in a cookie
  code = 2,     ///< good for one login
};
/// "token", "session", "code".
[[nodiscard]] DAYBOOK_EXPORT std::string_view word_of(token_kind kind) noexcept;

struct token_options {
  std::string name;  ///< who uses it; the actor of its changes; 1 to 255 bytes
  daybook::role role = role::read;
  token_kind kind = token_kind::token;
  /// A second to ten years; empty: until it is revoked.
  std::optional<std::chrono::milliseconds> lifetime = {};
};

/// A token that is valid.
struct token_info {
  std::string id;  ///< 16 hexadecimal digits, the first part of its text
  token_kind kind{};
  daybook::role role{};
  std::string name;
  std::string made_by;
  timestamp created{};
  std::optional<timestamp> expires;
  std::optional<timestamp> used;  ///< exact to the hour
};

}  // namespace v1
}  // namespace daybook
