#include "service/timeout_watcher.hpp"

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

timeout_watcher::timeout_map::iterator timeout_watcher::add(
    clock::time_point at, std::shared_ptr<running_handler> handler) {
  std::lock_guard const lock(guard_);
  if (!thread_.joinable()) {
    thread_ = std::jthread([this](std::stop_token const& stop) { serve(stop); });
  }
  auto const position = entries_.emplace(at, std::move(handler));
  // Most entries end after the earlier ones: the thread wakes for these anyway.
  if (at < awake_at_) changed_.notify_one();
  return position;
}

void timeout_watcher::remove(timeout_map::iterator position) {
  std::lock_guard const lock(guard_);
  entries_.erase(position);
}

timeout_watcher::timeout_map::iterator timeout_watcher::first_pending() {
  return std::find_if(entries_.begin(), entries_.end(),
                      [](auto const& one) { return one.second != nullptr; });
}

void timeout_watcher::serve(std::stop_token const& stop) {
  std::unique_lock lock(guard_);
  while (!stop.stop_requested()) {
    auto const now = clock::now();
    auto const next = first_pending();
    if (next != entries_.end() && next->first <= now) {
      // The stop callbacks of the handler may take long.
      auto const handler = std::exchange(next->second, nullptr);
      lock.unlock();
      handler->ask_to_stop(stop_reason::timeout);
      lock.lock();
      continue;
    }
    awake_at_ = next == entries_.end() ? clock::time_point::max() : next->first;
    changed_.wait_until(lock, stop, awake_at_, [&] {
      auto const now_first = first_pending();
      return now_first != entries_.end() && now_first->first < awake_at_;
    });
  }
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
