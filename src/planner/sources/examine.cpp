// What only the database can say about a declaration, and about its cost.
#include "planner/sources/period_rows.hpp"
#include "planner/sources/sweep_book.hpp"
#include "planner/strategy.hpp"
#include "queue/members/rows_of_query.hpp"

#include <daybook/error.hpp>

#include <string>
#include <variant>

namespace daybook {
inline namespace v1 {
namespace planners {

namespace {

void examine(surroundings const& around, std::string_view name, std::string const& /*queue*/,
             query_strategy const& strategy) {
  queues::check_query(around.with, "plan '" + std::string(name) + "': its query", strategy.query);
}

void examine(surroundings const& around, std::string_view name, std::string const& queue,
             inbox_strategy const& strategy) {
  auto const events = queues::open(around.with, *around.lease, strategy.from);
  if (!events)
    bad(name, "there is no queue '" + strategy.from + "' with its events: make it first");
  if (events->present().options.period.count() > 0) {
    bad(name, "the queue '" + strategy.from + "' has a period: an event comes once");
  }
  if (strategy.from == queue) {
    bad(name, "its events come from the queue '" + queue + "', into which their tasks would go");
  }
}

void examine(surroundings const& around, std::string_view name, std::string const& queue,
             window_strategy const& strategy) {
  examine_window(around.with, name, queue, strategy);
}

void examine(surroundings const& around, std::string_view name, std::string const& /*queue*/,
             sweep_strategy const& strategy) {
  static_cast<void>(keyset(around.with, name, strategy));
}

/// The pages of a sweep that is under way were cut as it was declared then.
void check_no_sweep(surroundings const& around, std::string_view name,
                    planner_options const& options) {
  auto const before = look(around.with, name);
  auto const* const was = before ? std::get_if<sweep_strategy>(&before->options.strategy) : nullptr;
  if (was == nullptr) return;
  auto const sweep = last_sweep(around.with, before->id);
  if (!sweep || sweep->state == sweep_state::over) return;
  auto const* const now = std::get_if<sweep_strategy>(&options.strategy);
  bool const same = now != nullptr && now->table == was->table && now->key == was->key &&
                    now->created == was->created && options.queue == before->options.queue;
  if (same) return;
  bad(name, "sweep " + std::to_string(sweep->number) + " of table '" + was->table +
                "' is under way: its table, key, created and queue may be changed when that is "
                "over; until then make another plan");
}

}  // namespace

void examine(surroundings const& around, std::string_view name, planner_options const& options) {
  check_no_sweep(around, name, options);
  std::visit([&](auto const& how) { examine(around, name, options.queue, how); }, options.strategy);
  // What is wrong with the check is said here, and not by the first pass.
  definition declared;
  declared.name = name;
  declared.options = options;
  launch_check const none;
  auto const into = queues::open(around.with, *around.lease, options.queue);
  static_cast<void>(launcher(around.with, declared, *into, none));
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
