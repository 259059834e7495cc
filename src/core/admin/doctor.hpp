// Every precondition of the guarantees, judged by what the database says of itself.
// Thread-safe.
#pragma once

#include "core/tx/context.hpp"

#include <daybook/inspect.hpp>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace core {

/// On failure: throws daybook::error when the database cannot be asked at all.
[[nodiscard]] std::vector<check_result> examine(context const& context);

using settings = std::map<std::string, std::string, std::less<>>;
/// What settings are worth by the rules of a dialect, of those rules that apply there.
[[nodiscard]] std::vector<check_result> judged(std::string_view dialect, settings const& settings);

}  // namespace core
}  // namespace v1
}  // namespace daybook
