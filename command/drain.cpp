#include "drain.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

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
      auto& one = workers_.emplace_back();
      one.queue = queue.name;
      one.node = std::make_unique<daybook::node>(book);
      command::work(*one.node, queue, at, options);
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
  for (auto& one : workers_) one.found_nothing = false;
  std::vector<std::future<std::int64_t>> all;
  for (auto& one : workers_) {
    all.push_back(std::async(std::launch::async, [this, &one] { return drain(one); }));
  }
  auto out = schedules_.drain();
  for (auto& one : all) out += one.get();
  return out;
}

/// Looks again while others work: what it did not find may have been in another's hands that took
/// more than it needs, and what they do may make more.
std::int64_t draining::drain(worker& one) {
  std::int64_t out = 0;
  try {
    while (!stopped_) {
      auto const done = one.node->drain();
      out += done;
      one.found_nothing = done == 0;
      if (done > 0) continue;
      if (!somebody_works()) break;
      std::this_thread::sleep_for(between_looks);
    }
  } catch (...) {
    one.found_nothing = true;
    throw;
  }
  return out;
}

/// Who has not looked in vain may be about to: a claim takes a while, and runs nothing yet.
bool draining::somebody_works() const {
  return std::any_of(workers_.begin(), workers_.end(), [](worker const& one) {
    if (!one.found_nothing) return true;
    auto const counts = one.node->counts(one.queue);
    return counts && counts->running > 0;
  });
}

void draining::stop() noexcept {
  stopped_ = true;
  for (auto& one : workers_) one.node->stop();
  schedules_.stop();
}

}  // namespace command
