// A running handler: the reason it was asked to stop, and the counters of its queue.
// Thread-safe.
#pragma once

#include <daybook/job.hpp>
#include <daybook/task.hpp>

#include <atomic>
#include <cstdint>
#include <stop_token>

namespace daybook {
inline namespace v1 {
namespace work {

/// Counts the results of the handlers of a queue.
class work_counters {
 public:
  void ended(result::kind kind) noexcept {
    auto& counter = kind == result::kind::success   ? succeeded_
                    : kind == result::kind::failure ? failed_
                                                    : others_;
    ++counter;
  }
  void lost() noexcept { ++lost_; }
  void handed_back() noexcept { ++handed_back_; }
  void begins(std::int64_t tasks) noexcept { running_ += tasks; }
  [[nodiscard]] work_counts read() const noexcept {
    return {.succeeded = succeeded_,
            .failed = failed_,
            .others = others_,
            .handed_back = handed_back_,
            .lost = lost_,
            .running = running_};
  }

 private:
  using number = std::atomic<std::int64_t>;
  number succeeded_ = 0;
  number failed_ = 0;
  number others_ = 0;
  number handed_back_ = 0;
  number lost_ = 0;
  number running_ = 0;
};

class running_handler {
 public:
  explicit running_handler(work_counters& counts) : counts_(&counts) {}

  /// Later reasons are ignored.
  void ask_to_stop(stop_reason reason) noexcept {
    auto none = stop_reason::none;
    if (reason_.compare_exchange_strong(none, reason)) stopping_.request_stop();
  }
  [[nodiscard]] stop_reason why() const noexcept { return reason_; }
  [[nodiscard]] std::stop_token stopping() const noexcept { return stopping_.get_token(); }
  [[nodiscard]] work_counters& counts() const noexcept { return *counts_; }

 private:
  work_counters* counts_;
  std::atomic<stop_reason> reason_ = stop_reason::none;
  std::stop_source stopping_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
