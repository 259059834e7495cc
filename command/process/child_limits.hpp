// When a child is ended, and how: TERM to its group, a grace, KILL to all that it has started.
// Waits for nothing itself: who has it calls look() when something has happened, and after pause()
// at the latest. Thread safety: the thread that made the child.
//
//   overseer over(job, {.timeout = 2h, .lost = run.stop()});
//   while (!over.look()) wait(over.pause(1s));
#pragma once

#include "process/child.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>

namespace command {

struct limits {
  std::optional<std::chrono::milliseconds> timeout = {};
  std::stop_token lost = {};
  /// We stop: the child is asked to end now, and has all of `grace` for it.
  std::stop_token stopping = {};
  /// No more grace for a child that was asked to end.
  std::stop_token kill = {};
  /// Between TERM and KILL. The other is used when `lost` asks: somebody else may start soon.
  std::chrono::milliseconds grace = std::chrono::seconds{5};
  std::chrono::milliseconds grace_when_lost = std::chrono::seconds{5};
  /// Called with each look, at least once a second.
  std::function<void()> meanwhile = {};
};

enum class ended_by { itself, timeout, loss, stop };

class overseer {
 public:
  overseer(child& job, limits const& within);

  /// Looks at the child and at its limits, and does what is due. True: the child has ended and,
  /// where it failed or was ended, so has what it left.
  [[nodiscard]] bool look();
  /// How long until look() has to be called again, at most so long.
  [[nodiscard]] std::chrono::milliseconds pause(std::chrono::milliseconds at_most) const;

  /// As the last look() has found.
  [[nodiscard]] ended_by why() const noexcept { return why_; }
  /// Once look() was true.
  [[nodiscard]] child_status const& status() const noexcept { return *status_; }

 private:
  using clock = std::chrono::steady_clock;
  enum class phase { working, ending, killed };

  void look_at_limits();
  void end(ended_by why, std::chrono::milliseconds grace);

  child& job_;
  limits within_;
  std::optional<clock::time_point> timeout_at_;
  clock::time_point kill_at_{};
  phase phase_ = phase::working;
  ended_by why_ = ended_by::itself;
  std::optional<child_status> status_;
};

}  // namespace command
