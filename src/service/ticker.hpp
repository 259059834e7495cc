// The inside of a node, as to schedules: threads that each take the schedule that is to be looked
// at next, do what is to be done about it, and call its handler. Thread-safe.
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

class ticker {
 public:
  ticker(engine& of, node_options options);
  ticker(ticker const&) = delete;
  ticker& operator=(ticker const&) = delete;
  ~ticker();

  // As node's verbs.
  void serve(std::string_view schedule, tick_handler handler);
  void start();
  void wake() noexcept;
  void stop() noexcept;
  /// `refused`: the schedules that handed theirs back: for others, or for later.
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
    std::chrono::milliseconds pause{0};  ///< after a fault
    bool attended = false;               ///< a thread is finding out what is to be done
    instant again = instant::max();      ///< when it is to look once more
    std::string missing;                 ///< the zone that is not here, of which that was said
  };
  using place = std::shared_ptr<served>;

  void work();
  /// The next thing to do: a schedule whose time has come, or (null) to look at all of them. Empty:
  /// stopped.
  std::optional<place> next();
  void look_at_all();
  void attend(place const& what);
  /// Until when nothing is to be done; empty: its handler was called, and others attend it since.
  [[nodiscard]] std::optional<instant> look_at(place const& what);
  /// False: it was handed back.
  bool call(tick_handler const& handler, schedules::launched one);
  bool finish(tick& done, std::optional<std::string> const& failure);
  /// When to look then.
  [[nodiscard]] instant when(schedules::definition const& of, instant known_at) const;
  /// Precondition: the guard is held.
  void set_locked(place const& what, instant at);
  void done_attending(place const& what, instant next);
  /// Where it is to be looked at no later than then.
  void hurry(place const& what, instant at);
  /// Whether its ticks may be taken here. The first time that they may not: tells why.
  [[nodiscard]] bool is_for_us(place const& what, schedules::definition const& of);
  /// To the observer.
  void told(std::string_view why) const;

  core::context with_;
  core::holder* lease_;
  node_options options_;
  schedules::launcher launch_;
  schedules::zones zones_;
  std::stop_source stopping_;
  std::mutex ending_;  ///< held by who waits for the threads
  bool started_ = false;
  mutable std::mutex guard_;
  std::condition_variable stirred_;
  std::map<std::string, place, std::less<>> all_;
  std::set<std::pair<instant, place>> order_;
  instant poll_at_{};
  bool polling_ = false;
  node_counts counts_;
  std::vector<std::jthread> threads_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
