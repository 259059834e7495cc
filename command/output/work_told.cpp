#include "output/work_told.hpp"

#include <nlohmann/json.hpp>

namespace command {

namespace {

daybook::work_counts since(daybook::work_counts const& now, daybook::work_counts const& then) {
  return {.succeeded = now.succeeded - then.succeeded,
          .failed = now.failed - then.failed,
          .others = now.others - then.others,
          .handed_back = now.handed_back - then.handed_back,
          .lost = now.lost - then.lost,
          .running = now.running};
}

}  // namespace

void work_told::look_at(settings const& file) {
  std::lock_guard const alone(guard_);
  for (auto const& one : file.queues) told_.try_emplace(one.name);
}

void work_told::now_and_then() {
  if (clock::now() >= next_) now();
}

void work_told::now() {
  next_ = clock::now() + between;
  std::lock_guard const alone(guard_);
  for (auto& [queue, then] : told_) {
    auto const counts = node_.counts(queue);
    if (!counts) continue;  // not worked yet, or about to be forgotten
    tell(queue, *counts, then);
    then = *counts;
  }
}

daybook::work_counts work_told::forget(std::string const& queue) {
  std::lock_guard const alone(guard_);
  auto const known = told_.extract(queue);
  return known ? known.mapped() : daybook::work_counts{};
}

void work_told::tell(std::string const& queue, daybook::work_counts const& counts,
                     daybook::work_counts const& then) {
  auto const news = since(counts, then);
  if (news.succeeded + news.failed + news.others + news.handed_back + news.lost == 0) return;
  log_.info("worked", {{"queue", queue},
                       {"succeeded", news.succeeded},
                       {"failed", news.failed},
                       {"others", news.others},
                       {"handed_back", news.handed_back},
                       {"lost", news.lost},
                       {"running", news.running}});
}

}  // namespace command
