#include "drain.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>

namespace command {

namespace {

constexpr std::chrono::milliseconds between_looks{50};

}  // namespace

draining::draining(daybook::book& book, daybook::node& schedules, settings const& file,
                   launch_site const& at)
    : schedules_(schedules) {
  for (auto const& queue : file.queues) {
    auto options = work_options_of(queue, std::chrono::hours{1});
    options.upkeep = false;
    // Whoever claims more than it begins with keeps it from the others.
    options.claims.batch = std::max(queue.batch, 1);
    for (int i = 0; i < queue.workers; ++i) {
      auto& one = workers_.emplace_back(queue.name, std::make_unique<daybook::node>(book));
      command::work(*one.second, queue, at, options);
    }
  }
}

std::int64_t draining::work() {
  std::int64_t out = 0;
  // What one has done may be work for another that has ended: until nobody has found any.
  while (auto const done = work_once()) out += done;
  return out;
}

std::int64_t draining::work_once() {
  if (stopped_) return 0;
  std::vector<std::future<std::int64_t>> all;
  for (auto const& [queue, node] : workers_) {
    all.push_back(std::async(std::launch::async, [this, &of = *node] { return drain(of); }));
  }
  auto out = schedules_.drain();
  for (auto& one : all) out += one.get();
  return out;
}

/// Looks again while others work: what it did not find may have been in another's hands that took
/// more than it needs, and what they do may make more.
std::int64_t draining::drain(daybook::node& of) {
  std::int64_t out = 0;
  while (!stopped_) {
    auto const done = of.drain();
    out += done;
    if (done > 0) continue;
    if (!somebody_works()) break;
    std::this_thread::sleep_for(between_looks);
  }
  return out;
}

bool draining::somebody_works() const {
  return std::any_of(workers_.begin(), workers_.end(), [](auto const& one) {
    auto const counts = one.second->counts(one.first);
    return counts && counts->running > 0;
  });
}

void draining::stop() noexcept {
  stopped_ = true;
  for (auto const& [queue, node] : workers_) node->stop();
  schedules_.stop();
}

}  // namespace command
