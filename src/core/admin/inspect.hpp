// What people look at, read from the tables. Thread-safe.
#pragma once

#include "core/tx/context.hpp"

#include <daybook/inspect.hpp>
#include <daybook/names.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace core {

[[nodiscard]] std::vector<run_info> list_runs(context const& context, runs_query const& query);
[[nodiscard]] std::optional<run_detail> find_run(context const& context, process const& name,
                                                 key const& run_key);
/// Of the newest of each end so many are read.
inline constexpr std::int64_t newest_ends = 200;
/// The part of the status that is about holders and runs.
[[nodiscard]] book_status look_at_all(context const& context, status_depth depth);

}  // namespace core
}  // namespace v1
}  // namespace daybook
