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
#include <memory>
#include <string>
#include <utility>
#include <vector>

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
  std::int64_t work_once();
  std::int64_t drain(daybook::node& of);
  [[nodiscard]] bool somebody_works() const;

  daybook::node& schedules_;
  /// Queues, and for each of their workers a node: one node drains in one thread.
  std::vector<std::pair<std::string, std::unique_ptr<daybook::node>>> workers_;
  std::atomic<int> busy_ = 0;  ///< nodes that look for work, or do some
  std::atomic<bool> stopped_ = false;
};

}  // namespace command
