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
             query_strategy const& of) {
  queues::check_query(around.with, "plan '" + std::string(name) + "': its query", of.query);
}

void examine(surroundings const& around, std::string_view name, std::string const& queue,
             inbox_strategy const& of) {
  auto const events = queues::open(around.with, *around.lease, of.from);
  if (!events) bad(name, "there is no queue '" + of.from + "' with its events: make it first");
  if (events->present().options.period.count() > 0) {
    bad(name, "the queue '" + of.from + "' has a period: an event comes once");
  }
  if (of.from == queue) {
    bad(name, "its events come from the queue '" + queue + "', into which their tasks would go");
  }
}

void examine(surroundings const& around, std::string_view name, std::string const& queue,
             window_strategy const& of) {
  examine_window(around.with, name, queue, of);
}

void examine(surroundings const& around, std::string_view name, std::string const& /*queue*/,
             sweep_strategy const& of) {
  static_cast<void>(keyset(around.with, name, of));
}

/// The pages of a sweep that is under way were cut as it was declared then.
void check_no_sweep(surroundings const& around, std::string_view name, planner_options const& of) {
  auto const before = look(around.with, name);
  auto const* const was = before ? std::get_if<sweep_strategy>(&before->options.strategy) : nullptr;
  if (was == nullptr) return;
  auto const sweep = last_sweep(around.with, before->id);
  if (!sweep || sweep->state == sweep_state::over) return;
  auto const* const now = std::get_if<sweep_strategy>(&of.strategy);
  bool const same = now != nullptr && now->table == was->table && now->key == was->key &&
                    now->created == was->created && of.queue == before->options.queue;
  if (same) return;
  bad(name, "sweep " + std::to_string(sweep->number) + " of table '" + was->table +
                "' is under way: its table, key, created and queue may be changed when that is "
                "over; until then make another plan");
}

}  // namespace

void examine(surroundings const& around, std::string_view name, planner_options const& of) {
  check_no_sweep(around, name, of);
  std::visit([&](auto const& how) { examine(around, name, of.queue, how); }, of.strategy);
  // What is wrong with the check is said here, and not by the first pass.
  definition declared;
  declared.name = name;
  declared.options = of;
  launch_check const none;
  auto const into = queues::open(around.with, *around.lease, of.queue);
  static_cast<void>(launcher(around.with, declared, *into, none));
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
