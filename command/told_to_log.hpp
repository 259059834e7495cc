// What the book and the node do by themselves, as lines of the daemon's log.
// Thread-safe. Lifetime: the log must outlive it.
#pragma once

#include "journal.hpp"
#include "options.hpp"
#include "seldom.hpp"

#include <daybook/observer.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace command {

class told_to_log final : public daybook::observer {
 public:
  explicit told_to_log(journal& log) : log_(log) {}

  void finished(daybook::run_event const& e) noexcept override {
    // A pass is a run, too, every few seconds: one that did anything is logged as `planned`.
    if (e.step.empty() && !e.process.starts_with("plan ")) log_.info("done", who(e));
  }
  void failed(daybook::run_event const& e) noexcept override { log_.warning("failed", why(e)); }
  void released(daybook::run_event const& e) noexcept override { log_.info("handed_back", why(e)); }
  void lost(daybook::run_event const& e) noexcept override { log_.warning("lost", why(e)); }
  void taken_over(daybook::run_event const& e) noexcept override {
    log_.warning("taken_over", why(e));
  }
  void renewal_late(std::chrono::milliseconds since, std::string_view why) noexcept override {
    if (!late_.may_speak()) return;
    log_.warning("renewal_late",
                 {{"seconds", std::chrono::round<std::chrono::seconds>(since).count()},
                  {"text", without_passwords(std::string(why))}});
  }
  void retried(std::string_view transaction, std::string_view why) noexcept override {
    if (!retried_.may_speak()) return;
    log_.warning("retried", {{"what", transaction}, {"text", without_passwords(std::string(why))}});
  }

 private:
  using json = nlohmann::ordered_json;
  static json who(daybook::run_event const& e) {
    return {{"schedule", e.process}, {"key", e.key}, {"attempt", e.attempt}};
  }
  static json why(daybook::run_event const& e) {
    auto out = who(e);
    out["text"] = without_passwords(std::string(e.text));
    return out;
  }

  journal& log_;
  seldom late_;
  seldom retried_;
};

}  // namespace command
