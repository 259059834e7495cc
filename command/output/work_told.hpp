// What became of tasks, counted: a line of the log for each queue once a minute where there was
// anything, for successes are too many to tell one by one.
// Thread-safe, but for now_and_then() and now(), which are one thread's. Lifetime: node and log
// must outlive it.
#pragma once

#include "config/settings.hpp"
#include "output/journal.hpp"

#include <daybook/job.hpp>
#include <daybook/node.hpp>

#include <chrono>
#include <map>
#include <mutex>
#include <string>

namespace command {

class work_told {
 public:
  work_told(daybook::node const& node, journal& log) : node_(node), log_(log) {}

  /// These queues, too.
  void look_at(settings const& file);
  /// When a minute is over.
  void now_and_then();
  void now();
  /// Once the node has forgotten the queue, and before it works it again: what was told of it. The
  /// rest is told with tell() when all that it has in hand has ended.
  [[nodiscard]] daybook::work_counts forget(std::string const& queue);
  /// What has come since `then`, if anything has.
  void tell(std::string const& queue, daybook::work_counts const& counts,
            daybook::work_counts const& then);

 private:
  using clock = std::chrono::steady_clock;
  static constexpr auto between = std::chrono::minutes{1};

  daybook::node const& node_;
  journal& log_;
  std::mutex guard_;
  std::map<std::string, daybook::work_counts> told_;  ///< by queue: what was told before
  clock::time_point next_ = clock::now() + between;
};

}  // namespace command
