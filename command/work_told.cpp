#include "work_told.hpp"

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
  for (auto const& one : file.queues) told_.try_emplace(one.name);
}

void work_told::now_and_then() {
  if (clock::now() >= next_) now();
}

void work_told::now() {
  next_ = clock::now() + between;
  for (auto& [queue, then] : told_) {
    auto const counts = of_.counts(queue).value_or(daybook::work_counts{});
    // One that was left, and is worked again, begins with nothing.
    if (counts.succeeded < then.succeeded) then = {};
    auto const news = since(counts, then);
    then = counts;
    if (news.succeeded + news.failed + news.others + news.handed_back + news.lost == 0) continue;
    log_.info("worked", {{"queue", queue},
                         {"succeeded", news.succeeded},
                         {"failed", news.failed},
                         {"others", news.others},
                         {"handed_back", news.handed_back},
                         {"lost", news.lost},
                         {"running", news.running}});
  }
}

}  // namespace command
