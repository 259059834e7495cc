#include "service/alarm.hpp"

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

alarm::waiting::iterator alarm::add(clock::time_point at, std::shared_ptr<in_hand> who) {
  std::lock_guard const lock(guard_);
  if (!thread_.joinable()) {
    thread_ = std::jthread([this](std::stop_token const& stop) { serve(stop); });
  }
  auto const place = all_.emplace(at, std::move(who));
  // Most come after those before them, and are seen to when these are.
  if (at < awake_at_) earlier_.notify_one();
  return place;
}

void alarm::take_back(waiting::iterator which) {
  std::lock_guard const lock(guard_);
  all_.erase(which);
}

alarm::waiting::iterator alarm::first() {
  return std::find_if(all_.begin(), all_.end(),
                      [](auto const& one) { return one.second != nullptr; });
}

void alarm::serve(std::stop_token const& stop) {
  std::unique_lock lock(guard_);
  while (!stop.stop_requested()) {
    auto const now = clock::now();
    auto const late = first();
    if (late != all_.end() && late->first <= now) {
      // What it has said to do when it is asked may take long.
      auto const who = std::exchange(late->second, nullptr);
      lock.unlock();
      who->ask_to_stop(halt::timeout);
      lock.lock();
      continue;
    }
    awake_at_ = late == all_.end() ? clock::time_point::max() : late->first;
    earlier_.wait_until(lock, stop, awake_at_, [&] {
      auto const now_first = first();
      return now_first != all_.end() && now_first->first < awake_at_;
    });
  }
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
