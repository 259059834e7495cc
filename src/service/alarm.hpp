// Asks handlers to stop whose time is over: one thread for all of a node, which begins with the
// first that has a time.
// Thread-safe. Lifetime: what it gave out is gone before it is.
#pragma once

#include "service/in_hand.hpp"

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

class alarm {
  using clock = std::chrono::steady_clock;
  using waiting = std::multimap<clock::time_point, std::shared_ptr<in_hand>>;

 public:
  /// Until this is gone, the handler is asked when its time comes.
  class set {
   public:
    set(alarm& by, std::chrono::milliseconds after, std::shared_ptr<in_hand> who)
        : by_(&by), at_(by.add(clock::now() + after, std::move(who))) {}
    set(set const&) = delete;
    set& operator=(set const&) = delete;
    ~set() { by_->take_back(at_); }

   private:
    alarm* by_;
    waiting::iterator at_;
  };

  alarm() = default;
  alarm(alarm const&) = delete;
  alarm& operator=(alarm const&) = delete;
  ~alarm() = default;

 private:
  waiting::iterator add(clock::time_point at, std::shared_ptr<in_hand> who);
  void take_back(waiting::iterator which);
  /// That has not been asked yet.
  waiting::iterator first();
  void serve(std::stop_token const& stop);

  std::mutex guard_;
  std::condition_variable_any earlier_;
  waiting all_;  ///< null: was asked already
  clock::time_point awake_at_ = clock::time_point::max();
  std::jthread thread_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
