#include "service/signals.hpp"

#include "core/admin/inspect.hpp"
#include "queue/admin/standing.hpp"

#include <cstdint>
#include <limits>

namespace daybook {
inline namespace v1 {
namespace work {

book_status look_at_book(core::context const& book, status_depth depth) {
  constexpr std::int64_t segments = 1000;
  auto out = core::look_at_all(book, depth);
  auto const tasks = queues::totals(
      book, depth == status_depth::newest ? segments : std::numeric_limits<std::int32_t>::max());
  out.queues = tasks.queues;
  out.tasks_due = tasks.due;
  out.tasks_capped = tasks.capped;
  out.tasks_running = tasks.running;
  out.tasks_dead = tasks.dead;
  out.tasks_unknown = tasks.unknown;
  return out;
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
