// The schedules that a node serves. Each thread takes the schedule that is due first, acquires its
// tick and calls its handler. Thread-safe.
#pragma once

#include "core/tx/context.hpp"
#include "schedule/definition.hpp"
#include "schedule/launch.hpp"
#include "service/engine.hpp"

#include <daybook/node.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace work {

class scheduler {
 public:
  scheduler(engine& book, node_options options);
  scheduler(scheduler const&) = delete;
  scheduler& operator=(scheduler const&) = delete;
  ~scheduler();

  // As node's verbs.
  void serve(std::string_view schedule, tick_handler handler);
  void start();
  void wake() noexcept;
  void stop() noexcept;
  /// `refused`: receives the schedules whose handlers handed a tick back.
  std::int64_t drain(std::set<std::string>& refused);
  [[nodiscard]] node_counts counts() const;

 private:
  using local_clock = std::chrono::steady_clock;
  using instant = local_clock::time_point;
  /// A schedule with a handler, and when to look at it next.
  struct served {
    std::string name;
    tick_handler handler;
    instant at = instant::max();
    std::chrono::milliseconds pause{0};      ///< after a fault
    bool busy = false;                       ///< a thread is processing it
    instant look_again_at = instant::max();  ///< look again then, once not busy
    std::string missing;                     ///< the missing time zone that was reported
  };
  using schedule_ref = std::shared_ptr<served>;

  void work();
  /// The next thing to do: a schedule whose time has come, or null to look at all of them. Empty if
  /// the node was stopped.
  std::optional<schedule_ref> next();
  void look_at_all();
  void process(schedule_ref const& schedule);
  /// When to look next. Empty if the handler was called: other threads process the schedule since.
  [[nodiscard]] std::optional<instant> look_at(schedule_ref const& schedule);
  /// False if the tick was handed back.
  bool call(tick_handler const& handler, schedules::launched acquired);
  bool finish(tick& done, std::optional<std::string> const& failure);
  /// When to look at the schedule next.
  [[nodiscard]] instant next_look(schedules::definition const& definition, instant known_at) const;
  /// Precondition: the caller holds guard_.
  void set_due_locked(schedule_ref const& schedule, instant at);
  void release(schedule_ref const& schedule, instant next);
  /// Has the schedule looked at by `at` at the latest.
  void move_earlier(schedule_ref const& schedule, instant at);
  /// Whether this node may take its ticks. Reports the reason once if it may not.
  [[nodiscard]] bool can_run_here(schedule_ref const& schedule,
                                  schedules::definition const& definition);
  /// To the observer.
  void report(std::string_view message) const;

  core::context context_;
  core::holder* lease_;
  node_options options_;
  schedules::launcher launch_;
  schedules::zones zones_;
  std::stop_source stopping_;
  std::mutex ending_;  ///< held while joining threads
  bool started_ = false;
  mutable std::mutex guard_;
  std::condition_variable changed_;
  std::map<std::string, schedule_ref, std::less<>> schedules_;
  std::set<std::pair<instant, schedule_ref>> by_time_;
  instant poll_at_{};
  bool polling_ = false;
  node_counts counts_;
  std::vector<std::jthread> threads_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
