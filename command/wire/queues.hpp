// Queues and their tasks as JSON: the fields that --json prints.
// Thread safety: values.
#pragma once

#include <daybook/queue.hpp>
#include <daybook/task.hpp>
#include <daybook/table_sync.hpp>

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace command {

[[nodiscard]] nlohmann::ordered_json json_of(daybook::queue_info const& queue);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::import_report const& report);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::queue_counts const& counts);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::table_sync_info const& watch);
[[nodiscard]] nlohmann::ordered_json json_of(daybook::task_info const& task);
[[nodiscard]] nlohmann::ordered_json json_of(std::vector<daybook::task_outcome> const& outcomes);

}  // namespace command
