// Works what a file declares until nothing of it is due: its ticks one after the other, and the
// tasks of each queue by as many commands at once as it has workers.
// Thread safety: work() by one thread, stop() by any. Lifetime: all that is borrowed must outlive
// it.
#pragma once

#include "launch.hpp"
#include "serve.hpp"
#include "settings.hpp"

#include <daybook/book.hpp>
#include <daybook/node.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

namespace command {

class draining {
 public:
  /// `schedules` serves what is in the file, but works no queue. On failure: daybook::error.
  draining(daybook::book& book, daybook::node& schedules, settings const& file,
           launch_site const& at);

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

  daybook::node& schedules_;
  /// For each queue as many as it is to have: one node drains in one thread.
  std::deque<worker> workers_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace command
