// A handler at work: why it is asked to stop, and how its tasks ended, counted.
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

/// What the handlers of a queue have done.
class tally {
 public:
  void ended(result::kind how) noexcept {
    auto& of = how == result::kind::success   ? succeeded_
               : how == result::kind::failure ? failed_
                                              : others_;
    ++of;
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

class in_hand {
 public:
  explicit in_hand(tally& counts) : counts_(&counts) {}

  /// The first reason is what it is told.
  void ask_to_stop(halt why) noexcept {
    auto none = halt::none;
    if (why_.compare_exchange_strong(none, why)) stopping_.request_stop();
  }
  [[nodiscard]] halt why() const noexcept { return why_; }
  [[nodiscard]] std::stop_token stopping() const noexcept { return stopping_.get_token(); }
  [[nodiscard]] tally& counts() const noexcept { return *counts_; }

 private:
  tally* counts_;
  std::atomic<halt> why_ = halt::none;
  std::stop_source stopping_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
