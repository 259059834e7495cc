// Works what a file declares until nothing of it is due: its ticks one after the other, and the
// tasks of each queue by as many commands at once as it has workers.
// Thread safety: work() by one thread, stop() by any. Lifetime: all that is borrowed must outlive
// it.
#pragma once

#include "config/settings.hpp"
#include "daemon/children/launch.hpp"
#include "daemon/serve.hpp"

#include <daybook/book.hpp>
#include <daybook/node.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

namespace command {

class draining {
 public:
  /// `schedules` serves what is in the file, but works no queue. On failure: daybook::error.
  /// `poll`: so often at least a worker that has nothing to do looks again.
  draining(daybook::book& book, daybook::node& schedules, settings const& file,
           launch_site const& site, std::chrono::milliseconds poll);

  /// Returns how many attempts there were. On failure: throws daybook::error.
  std::int64_t work();
  /// As node::stop(), and work() returns.
  void stop() noexcept;

 private:
  struct worker {
    std::string queue;
    std::unique_ptr<daybook::node> node;
    std::atomic<bool> found_nothing = false;  ///< when it last looked
  };

  std::int64_t work_once();
  std::int64_t drain(worker& one);
  [[nodiscard]] bool somebody_works() const;
  /// Has those that wait look again at once.
  void tell() noexcept;
  [[nodiscard]] std::uint64_t news();
  /// Until there is more to tell than `seen`, no longer than `pause`.
  void wait(std::chrono::milliseconds pause, std::uint64_t seen);

  daybook::node& schedules_;
  std::chrono::milliseconds poll_;
  /// For each queue as many as it is to have: one node drains in one thread.
  std::deque<worker> workers_;
  std::atomic<bool> stopped_ = false;
  std::mutex waiting_;
  std::condition_variable told_;
  std::uint64_t news_ = 0;  ///< how often something was told
};

}  // namespace command
