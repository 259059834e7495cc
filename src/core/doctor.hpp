// Every precondition of the guarantees, judged by what the database says of itself.
// Thread-safe.
#pragma once

#include "core/context.hpp"

#include <daybook/inspect.hpp>

#include <vector>

namespace daybook {
inline namespace v1 {
namespace core {

/// On failure: throws daybook::error when the database cannot be asked at all.
[[nodiscard]] std::vector<finding> examine(context const& with);

}  // namespace core
}  // namespace v1
}  // namespace daybook
