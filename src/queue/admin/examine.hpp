// For the doctor: whether the queues that follow tables do so.
// Thread-safe.
#pragma once

#include "core/lease/holder.hpp"
#include "core/tx/context.hpp"

#include <daybook/inspect.hpp>

#include <vector>

namespace daybook {
inline namespace v1 {
namespace queues {

/// A finding for each. On failure: throws daybook::error when the database cannot be asked at all.
[[nodiscard]] std::vector<check_result> examine(core::context const& context, core::holder& lease);

}  // namespace queues
}  // namespace v1
}  // namespace daybook
