#include "http/pool.hpp"

#include <utility>

namespace command {

pool::pool(std::size_t threads, std::size_t most_waiting) : most_waiting_(most_waiting) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

pool::~pool() {
  {
    std::lock_guard const locked(guard_);
    ends_ = true;
  }
  change_.notify_all();
  for (auto& one : threads_) one.join();
}

bool pool::put(std::function<void()> work) {
  {
    std::lock_guard const locked(guard_);
    if (ends_ || waiting_.size() >= most_waiting_) return false;
    waiting_.push_back(std::move(work));
  }
  change_.notify_one();
  return true;
}

void pool::serve() {
  std::unique_lock locked(guard_);
  for (;;) {
    change_.wait(locked, [this] { return ends_ || !waiting_.empty(); });
    if (ends_) return;
    auto const work = std::move(waiting_.front());
    waiting_.pop_front();
    locked.unlock();
    work();
    locked.lock();
  }
}

}  // namespace command
