// Tells people of problems. One daemon of the book looks for them every half minute; each daemon
// sends messages from a queue. Thread safety: one thread calls; the object has a thread of its own.
// Lifetime: book, node and site must outlive it, and the node must stop before its destructor runs.
#pragma once

#include "config/settings.hpp"
#include "daemon/children/launch.hpp"

#include <daybook/book.hpp>
#include <daybook/job.hpp>
#include <daybook/node.hpp>
#include <daybook/run.hpp>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace command {

/// The queue of messages, and the run whose holder looks for problems.
inline constexpr char const* hooks_queue = "daybook.hooks";
inline constexpr char const* alerts_process = "alerts";

class alerts {
 public:
  alerts(daybook::book& book, daybook::node& node, launch_site const& site)
      : book_(book), node_(node), site_(site) {}
  alerts(alerts const&) = delete;
  alerts& operator=(alerts const&) = delete;
  ~alerts() = default;

  /// Takes the hooks and the command of this file from now on. On failure, the ones before stay:
  /// throws daybook::error; complaint (65) for a URL whose variable is not in the environment, or
  /// (78) if this build cannot send.
  void settle(settings const& file);
  /// Ends the looks, so that another daemon may look at once. Waits for a look under way.
  void stop();

 private:
  using clock = std::chrono::steady_clock;
  using shared = std::shared_ptr<declared_alerts const>;

  void work(std::stop_token const& stop);
  /// Returns the time until the next look.
  std::chrono::milliseconds look(declared_alerts const& told);
  void rest(std::stop_token const& stop, std::chrono::milliseconds length);
  daybook::result deliver(declared_alerts const& told, daybook::job& job);

  daybook::book& book_;
  daybook::node& node_;
  launch_site const& site_;
  std::mutex guard_;
  std::condition_variable_any wake_;
  shared told_;                      ///< guarded
  std::optional<daybook::run> run_;  ///< of the thread
  std::jthread thread_;              // last: it uses all the rest
};

}  // namespace command
