// run::token(): what another process needs to record steps under this attempt, as one word
// without spaces, fit for an environment variable.
#pragma once

#include "core/run/run.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace core {

struct token {
  run_identity identity;
  acquisition held;
};

[[nodiscard]] std::string write_token(run_identity const& identity, acquisition const& held);
/// Empty when the text is no token.
[[nodiscard]] std::optional<token> read_token(std::string_view text);

}  // namespace core
}  // namespace v1
}  // namespace daybook
