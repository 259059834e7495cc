// The members that a query gives.
// Thread-safe.
#pragma once

#include "queue/members/store.hpp"

#include <daybook/queue_options.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace queues {

/// On failure: daybook::error, error_code::bad_argument, that names the key.
void check_payload(std::string_view queue, key const& key,
                   std::optional<std::string> const& payload);

/// On failure: daybook::error (error_code::bad_argument) where the text is no query of one or two
/// columns, or gives what can be no key; what came before that row is imported.
import_report import_query(store& store, std::string_view query, task_options const& options,
                           std::function<bool(import_report const&)> const& on_progress);

}  // namespace queues
}  // namespace v1
}  // namespace daybook
