// What people should know of a book now, found by looking at holders, runs, schedules, queues and
// plans. Thread-safe.
#pragma once

#include "service/engine.hpp"

#include <daybook/alerts.hpp>
#include <daybook/inspect.hpp>
#include <daybook/problems.hpp>

#include <vector>

namespace daybook {
inline namespace v1 {
namespace work {

/// As book::status().
[[nodiscard]] book_status look_at_book(core::context const& book, status_depth depth);

/// As book::problems().
[[nodiscard]] std::vector<problem> find_problems(engine& engine, problem_options const& options);

/// As book::look_for_alerts().
std::vector<alert> look_for_alerts(engine& engine, alert_options const& options,
                                   alert_writer const& write);

}  // namespace work
}  // namespace v1
}  // namespace daybook
