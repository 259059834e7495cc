// What the book and the node do by themselves, as lines of the daemon's log.
// Thread-safe. Lifetime: the log must outlive it.
#pragma once

#include "output/journal.hpp"
#include "output/seldom.hpp"

#include <daybook/observer.hpp>

#include <chrono>
#include <string_view>

namespace command {

class told_to_log final : public daybook::observer {
 public:
  explicit told_to_log(journal& log) : log_(log) {}

  void finished(daybook::run_event const& e) noexcept override;
  void failed(daybook::run_event const& e) noexcept override;
  void released(daybook::run_event const& e) noexcept override;
  void lost(daybook::run_event const& e) noexcept override;
  void taken_over(daybook::run_event const& e) noexcept override;
  void renewal_late(std::chrono::milliseconds since, std::string_view why) noexcept override;
  void set_back() noexcept override;
  void retried(std::string_view transaction, std::string_view why) noexcept override;

 private:
  journal& log_;
  seldom late_;
  seldom retried_;
};

}  // namespace command
