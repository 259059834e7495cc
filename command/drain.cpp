#include "drain.hpp"

#include <algorithm>
#include <future>

namespace command {

draining::draining(daybook::book& book, daybook::node& schedules, settings const& file,
                   launch_site const& at)
    : schedules_(schedules) {
  for (auto const& queue : file.queues) {
    auto options = work_options_of(queue, std::chrono::hours{1});
    options.upkeep = false;
    // Whoever claims more than it begins with keeps it from the others.
    options.claims.batch = std::max(queue.batch, 1);
    for (int i = 0; i < queue.workers; ++i) {
      auto& node = *workers_.emplace_back(std::make_unique<daybook::node>(book));
      command::work(node, queue, at, options);
    }
  }
}

std::int64_t draining::work() {
  std::int64_t out = 0;
  // What one has done may be work for another: until nobody has found any.
  while (auto const done = work_once()) out += done;
  return out;
}

std::int64_t draining::work_once() {
  if (stopped_) return 0;
  std::vector<std::future<std::int64_t>> all;
  for (auto const& node : workers_) {
    all.push_back(std::async(std::launch::async, [&of = *node] { return of.drain(); }));
  }
  auto out = schedules_.drain();
  for (auto& one : all) out += one.get();
  return out;
}

void draining::stop() noexcept {
  stopped_ = true;
  for (auto const& node : workers_) node->stop();
  schedules_.stop();
}

}  // namespace command
