// A tick that this process has launched or taken over, for its handler.
// Thread safety: one thread at a time; stop() may be read from any.
//
//   node.serve("daily-leads", [](daybook::tick& tick) {
//     auto const [from, to] = tick.window();
//     tick.run().step("export", [&](daybook::transaction& tx) { ... });
//   });
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/run.hpp>
#include <daybook/schedule.hpp>
#include <daybook/time.hpp>

#include <functional>
#include <stop_token>
#include <string>
#include <utility>

namespace daybook {
inline namespace v1 {

/// The facts of a tick when its handler is called.
struct tick_facts {
  std::string schedule;
  timestamp at;
  tick_window window;
  bool by_hand = false;
  int failures = 0;  ///< before this attempt
  int crashes = 0;
};

class DAYBOOK_EXPORT tick {
 public:
  tick(tick_facts facts, daybook::run held, std::stop_token stopping)
      : facts_(std::move(facts)), run_(std::move(held)), stopping_(std::move(stopping)) {}

  [[nodiscard]] std::string const& schedule() const noexcept { return facts_.schedule; }
  /// The tick's own instant, whenever it was launched.
  [[nodiscard]] timestamp at() const noexcept { return facts_.at; }
  /// [tick launched before it, this tick), the same at every attempt.
  [[nodiscard]] tick_window window() const noexcept { return facts_.window; }
  [[nodiscard]] bool by_hand() const noexcept { return facts_.by_hand; }
  [[nodiscard]] tick_facts const& facts() const noexcept { return facts_; }
  /// Its run. A later attempt skips its finished steps. Do not end it: it succeeds when the handler
  /// returns, and fails when the handler throws.
  [[nodiscard]] daybook::run& run() noexcept { return run_; }

  /// A stop is requested when the node stops. Then call hand_back() and return; the node waits for
  /// handlers that do not.
  [[nodiscard]] std::stop_token stopping() const noexcept { return stopping_; }
  /// When the handler returns the run is handed back unfinished, and any node goes on with it. That
  /// is no failure.
  void hand_back() noexcept { handed_back_ = true; }
  [[nodiscard]] bool handed_back() const noexcept { return handed_back_; }

 private:
  tick_facts facts_;
  daybook::run run_;
  std::stop_token stopping_;
  bool handed_back_ = false;
};

using tick_handler = std::function<void(tick&)>;

}  // namespace v1
}  // namespace daybook
