// Whether the book still has the queues and schedules as this daemon's file declares them. Daemons
// whose files contradict each other would undo one another's declarations at each start, and nobody
// would be told.
// Thread safety: one thread calls, and a thread of its own looks. Lifetime: book and log must
// outlive it.
#pragma once

#include "config/settings.hpp"
#include "output/journal.hpp"

#include <daybook/book.hpp>
#include <daybook/queue_options.hpp>
#include <daybook/schedule.hpp>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace command {

class declarations {
 public:
  /// `between`: from one look to the next. One thing is told at most once in ten looks.
  declarations(daybook::book& book, journal& log, std::chrono::milliseconds between);
  declarations(declarations const&) = delete;
  declarations& operator=(declarations const&) = delete;
  ~declarations() = default;

  /// What the file declares is in the book now; from now on it is compared. On failure: throws
  /// daybook::error.
  void settle(settings const& file);
  /// No more looks; does not wait for one that is under way.
  void stop() { thread_.request_stop(); }

 private:
  using clock = std::chrono::steady_clock;
  struct schedule {
    std::string cron;
    daybook::schedule_options options;
    friend bool operator==(schedule const&, schedule const&) = default;
  };
  struct state {
    std::map<std::string, daybook::queue_options> queues;
    std::map<std::string, schedule> schedules;
  };
  /// Those of these names that the book has.
  [[nodiscard]] state read(state const& names) const;
  void work(std::stop_token const& stop);
  void look();
  void tell(std::string const& kind, std::string const& name);

  daybook::book& book_;
  journal& log_;
  std::chrono::milliseconds between_;
  std::mutex guard_;
  std::condition_variable_any wake_;
  state declared_;  ///< guarded
  std::map<std::string, clock::time_point> told_;
  std::jthread thread_;  // last: it uses all the rest
};

}  // namespace command
