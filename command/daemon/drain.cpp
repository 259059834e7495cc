#include "daemon/drain.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <vector>

namespace command {

namespace {

/// The first pause of a worker that has found nothing; doubled up to the poll.
constexpr std::chrono::milliseconds shortest_pause{50};

}  // namespace

draining::draining(daybook::book& book, daybook::node& schedules, settings const& file,
                   launch_site const& site, std::chrono::milliseconds poll)
    : schedules_(schedules), poll_(std::max(poll, shortest_pause)) {
  for (auto const& queue : file.queues) {
    auto options = work_options_of(queue, std::chrono::hours{1});
    options.upkeep = false;
    // Whoever claims more than it begins with keeps it from the others.
    options.claims.batch = std::max(queue.batch, 1);
    for (int i = 0; i < queue.workers; ++i) {
      auto& one = workers_.emplace_back();
      one.queue = queue.name;
      one.node = std::make_unique<daybook::node>(book);
      command::work(*one.node, queue, site, options);
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
/// more than it needs, and what they do may make more. Seldomer each time, for they may work for
/// hours; at once when one of them says that it has done something, or has nothing more to do.
std::int64_t draining::drain(worker& one) {
  std::int64_t out = 0;
  auto pause = shortest_pause;
  try {
    while (!stopped_) {
      auto seen = news();
      auto const done = one.node->drain();
      out += done;
      bool const had_nothing = one.found_nothing.exchange(done == 0);
      if (done > 0 || !had_nothing) {
        tell();
        ++seen;
      }
      if (done > 0) {
        pause = shortest_pause;
        continue;
      }
      if (!somebody_works()) break;
      wait(pause, seen);
      pause = std::min(2 * pause, poll_);
    }
  } catch (...) {
    one.found_nothing = true;
    tell();
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

void draining::tell() noexcept {
  {
    std::lock_guard const alone(waiting_);
    ++news_;
  }
  told_.notify_all();
}

std::uint64_t draining::news() {
  std::lock_guard const alone(waiting_);
  return news_;
}

void draining::wait(std::chrono::milliseconds pause, std::uint64_t seen) {
  std::unique_lock alone(waiting_);
  told_.wait_for(alone, pause, [&] { return stopped_ || news_ != seen; });
}

void draining::stop() noexcept {
  stopped_ = true;
  tell();
  for (auto& one : workers_) one.node->stop();
  schedules_.stop();
}

}  // namespace command
