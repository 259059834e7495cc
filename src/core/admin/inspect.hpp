// What people look at, read from the tables. Thread-safe.
#pragma once

#include "core/tx/context.hpp"

#include <daybook/inspect.hpp>
#include <daybook/names.hpp>

#include <optional>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace core {

[[nodiscard]] std::vector<run_info> list_runs(context const& with, runs_query const& query);
[[nodiscard]] std::optional<run_detail> find_run(context const& with, process const& name,
                                                 key const& piece);
[[nodiscard]] book_status look_at_all(context const& with);

}  // namespace core
}  // namespace v1
}  // namespace daybook
