// The rows of a query: what was never launched, page by page, past what is refused.
#include "core/tx/transact.hpp"
#include "planner/strategy.hpp"
#include "queue/members/rows_of_query.hpp"

#include <daybook/error.hpp>

#include <string>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace planners {

namespace {

/// Where once is enough, what was launched need not come.
queues::around_query around(store const& store) {
  if (rule_of(store.declared().options) != launch_rule::once) return {};
  return [&](std::string const& columns) {
    return store.with().sql.text_of(
        "planned.new_rows",
        {{"query", std::get<query_strategy>(store.declared().options.strategy).query},
         {"columns", columns},
         {"planner", std::to_string(store.declared().id)}});
  };
}

bool feed_rows(store const& store, query_strategy const& strategy, sink& sink) {
  queues::rows_of_query rows(
      store.with(), "plan '" + store.declared().name + "': its query", strategy.query,
      {.around = around(store), .timeout = strategy.timeout, .stop = sink.stopping()});
  auto const size = static_cast<std::size_t>(store.declared().options.page);
  for (bool more = true; more;) {
    std::vector<candidate> page;
    while (page.size() < size) {
      auto one = rows.next();
      more = one.has_value();
      if (!more) break;
      page.push_back({.key = std::move(one->key), .payload = std::move(one->payload)});
    }
    if (!page.empty() && !sink.take(std::move(page))) return false;
  }
  return true;
}

}  // namespace

bool feed(store const& store, query_strategy const& strategy, sink& sink) {
  try {
    return feed_rows(store, strategy, sink);
  } catch (queues::reading_stopped const&) {
    return false;
  }
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
