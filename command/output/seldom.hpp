// Keeps what is told again and again to one telling in ten seconds: people need fewer words.
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>

namespace command {

class seldom {
 public:
  /// Whether it is time again; who gets a yes speaks.
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
