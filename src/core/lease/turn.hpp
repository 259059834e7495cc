// Whose turn it is with a run: that of any one thread, or of the asynchronous verb that has it.
// Thread-safe.
#pragma once

#include <atomic>
#include <thread>

namespace daybook {
inline namespace v1 {
namespace core {

class turn {
 public:
  /// For an asynchronous verb, until end(). False: another has it.
  [[nodiscard]] bool claim() noexcept { return !taken_.exchange(true); }
  /// The calling thread does the verb's work.
  void begin() noexcept { thread_ = std::this_thread::get_id(); }
  void end() noexcept {
    thread_ = std::thread::id();
    taken_ = false;
  }
  /// Whether the calling thread may use the run; so may a step's body, that of the verb itself.
  [[nodiscard]] bool ours() const noexcept {
    return !taken_ || thread_.load() == std::this_thread::get_id();
  }

 private:
  std::atomic<bool> taken_ = false;
  std::atomic<std::thread::id> thread_{};
};

}  // namespace core
}  // namespace v1
}  // namespace daybook
