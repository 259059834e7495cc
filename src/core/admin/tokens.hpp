// Tokens, sessions and one-time codes of a book. A text is "dbk_ID_SECRETCHECK": 16 hexadecimal
// digits of the id, 64 of the secret, and 8 of the SHA-256 of what stands before them, by which
// scanners find leaked ones. Thread-safe.
#pragma once

#include "core/tx/context.hpp"

#include <daybook/access.hpp>
#include <daybook/operate.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace core {

// As book's verbs.
[[nodiscard]] std::string make_token(context const& context, token_options const& options,
                                     audit_note const& note);
[[nodiscard]] std::optional<token_info> check_token(context const& context, std::string_view text,
                                                    token_kind kind);
[[nodiscard]] std::vector<token_info> list_tokens(context const& context);
bool revoke_token(context const& context, std::string_view id, audit_note const& note);

}  // namespace core
}  // namespace v1
}  // namespace daybook
