// The smallest coroutine that a test can wait for: begins at once, keeps what it threw.
#pragma once

#include <coroutine>
#include <exception>
#include <future>
#include <utility>

namespace support {

class job {
 public:
  struct promise_type {
    std::promise<void> end;
    job get_return_object() { return job(end.get_future()); }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() { end.set_value(); }
    void unhandled_exception() { end.set_exception(std::current_exception()); }
  };
  /// Waits; throws what the coroutine threw. Its frame is gone soon after.
  void get() { end_.get(); }

 private:
  explicit job(std::future<void> end) : end_(std::move(end)) {}
  std::future<void> end_;
};

}  // namespace support
