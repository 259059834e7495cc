// Asks handlers to stop when their time is over. One thread serves the whole node; it starts with
// the first handler that has a timeout.
// Thread-safe. Lifetime: entries are destroyed before the watcher.
#pragma once

#include "service/running_handler.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

class timeout_watcher {
  using clock = std::chrono::steady_clock;
  using timeout_map = std::multimap<clock::time_point, std::shared_ptr<running_handler>>;

 public:
  /// While this lives, the handler is asked to stop when its time is over.
  class entry {
   public:
    entry(timeout_watcher& watcher, std::chrono::milliseconds after,
          std::shared_ptr<running_handler> handler)
        : watcher_(&watcher), at_(watcher.add(clock::now() + after, std::move(handler))) {}
    entry(entry const&) = delete;
    entry& operator=(entry const&) = delete;
    ~entry() { watcher_->remove(at_); }

   private:
    timeout_watcher* watcher_;
    timeout_map::iterator at_;
  };

  timeout_watcher() = default;
  timeout_watcher(timeout_watcher const&) = delete;
  timeout_watcher& operator=(timeout_watcher const&) = delete;
  ~timeout_watcher() = default;

 private:
  timeout_map::iterator add(clock::time_point at, std::shared_ptr<running_handler> handler);
  void remove(timeout_map::iterator position);
  /// The first handler that was not asked yet.
  timeout_map::iterator first_pending();
  void serve(std::stop_token const& stop);

  std::mutex guard_;
  std::condition_variable_any changed_;
  timeout_map entries_;  ///< null if it was asked already
  clock::time_point awake_at_ = clock::time_point::max();
  std::jthread thread_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
