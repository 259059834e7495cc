// Limits a message that repeats to one in ten seconds.
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>

namespace command {

class rate_limiter {
 public:
  /// True once in ten seconds: the caller then logs its message.
  bool may_speak() noexcept {
    auto const now = std::chrono::steady_clock::now().time_since_epoch();
    auto next = next_.load();
    return now >= next && next_.compare_exchange_strong(next, now + between);
  }

 private:
  using length = std::chrono::steady_clock::duration;
  static constexpr length between = std::chrono::seconds{10};
  std::atomic<length> next_{length::min()};
};

}  // namespace command
