// Writes events of the book and of the node into the daemon's log. A last failure, which is tried
// again only when a person asks, is an error; log_observer counts these.
// Thread-safe. Lifetime: the log must outlive it.
#pragma once

#include "output/journal.hpp"
#include "output/rate_limiter.hpp"

#include <daybook/observer.hpp>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace command {

/// Numbers of last failures.
struct last_failures {
  std::int64_t ticks = 0;
  std::int64_t runs = 0;     ///< of no tick: passes of plans
  std::int64_t tasks = 0;    ///< at their turn
  std::int64_t dead = 0;     ///< tasks
  std::int64_t unknown = 0;  ///< runs and tasks

  [[nodiscard]] std::int64_t sum() const noexcept { return ticks + runs + tasks + dead + unknown; }
};

class log_observer final : public daybook::observer {
 public:
  explicit log_observer(journal& log) : log_(log) {}

  [[nodiscard]] last_failures failures() const;

  void finished(daybook::run_event const& e) noexcept override;
  void failed(daybook::run_event const& e) noexcept override;
  void released(daybook::run_event const& e) noexcept override;
  void lost(daybook::run_event const& e) noexcept override;
  void taken_over(daybook::run_event const& e) noexcept override;
  void renewal_late(std::chrono::milliseconds since, std::string_view why) noexcept override;
  void set_back() noexcept override;
  void retried(std::string_view transaction, std::string_view why) noexcept override;
  void tick_failed(daybook::run_event const& e) noexcept override;
  void unknown(daybook::run_event const& e) noexcept override;
  void task_failed(daybook::task_event const& e) noexcept override;
  void task_dead(daybook::task_event const& e) noexcept override;
  void task_unknown(daybook::task_event const& e) noexcept override;

 private:
  void count(std::int64_t last_failures::*counter) noexcept;

  journal& log_;
  mutable std::mutex guard_;
  last_failures failures_;
  rate_limiter late_;
  rate_limiter retried_;
};

}  // namespace command
