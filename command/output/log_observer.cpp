#include "output/log_observer.hpp"

#include "cli/remedies.hpp"
#include "config/options.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace command {

namespace {

using json = nlohmann::ordered_json;

json who(daybook::run_event const& e) {
  return {{"schedule", e.process}, {"key", e.key}, {"attempt", e.attempt}};
}

json with_text(daybook::run_event const& e) {
  auto out = who(e);
  out["text"] = without_passwords(std::string(e.text));
  return out;
}

/// A pass of a plan, and upkeep, are runs of no tick.
bool is_of_tick(daybook::run_event const& e) {
  return !e.process.starts_with("plan ") && e.process != "upkeep" && e.process != "alerts";
}

json last(json fields, std::string_view text, std::string remedy) {
  fields["text"] = without_passwords(std::string(text));
  fields["remedy"] = std::move(remedy);
  return fields;
}

json last(daybook::task_event const& e, std::string remedy) {
  return last(
      {{"queue", e.queue}, {"key", e.key}, {"attempts", e.attempts}, {"crashes", e.crashes}},
      e.text, std::move(remedy));
}

}  // namespace

last_failures log_observer::failures() const {
  std::lock_guard const lock(guard_);
  return failures_;
}

void log_observer::count(std::int64_t last_failures::*counter) noexcept {
  std::lock_guard const lock(guard_);
  ++(failures_.*counter);
}

void log_observer::finished(daybook::run_event const& e) noexcept {
  // A pass is a run, too, every few seconds: one that did anything is logged as `planned`.
  if (e.step.empty() && !e.process.starts_with("plan ")) log_.info("done", who(e));
}

void log_observer::failed(daybook::run_event const& e) noexcept {
  if (is_of_tick(e)) {
    log_.warning("failed", with_text(e));
    return;
  }
  count(&last_failures::runs);
  log_.error("run_failed", last(who(e), e.text, run_show_command(e)));
}

void log_observer::tick_failed(daybook::run_event const& e) noexcept {
  count(&last_failures::ticks);
  log_.error("tick_failed", last(who(e), e.text, tick_retry_command(e)));
}

void log_observer::unknown(daybook::run_event const& e) noexcept {
  count(&last_failures::unknown);
  auto const then = is_of_tick(e) ? "; " + tick_retry_command(e) : std::string();
  log_.error("unknown", last(who(e), e.text, run_resolve_command(e) + then));
}

void log_observer::task_failed(daybook::task_event const& e) noexcept {
  count(&last_failures::tasks);
  log_.error("task_failed", last(e, task_retry_command(e)));
}

void log_observer::task_dead(daybook::task_event const& e) noexcept {
  count(&last_failures::dead);
  log_.error("task_dead", last(e, task_retry_command(e)));
}

void log_observer::task_unknown(daybook::task_event const& e) noexcept {
  count(&last_failures::unknown);
  log_.error("unknown", last(e, task_resolve_command(e)));
}

void log_observer::released(daybook::run_event const& e) noexcept {
  log_.info("handed_back", with_text(e));
}

void log_observer::lost(daybook::run_event const& e) noexcept {
  log_.warning("lost", with_text(e));
}

void log_observer::taken_over(daybook::run_event const& e) noexcept {
  log_.warning("taken_over", with_text(e));
}

void log_observer::renewal_late(std::chrono::milliseconds since, std::string_view why) noexcept {
  if (!late_.may_speak()) return;
  log_.warning("renewal_late",
               {{"seconds", std::chrono::round<std::chrono::seconds>(since).count()},
                {"text", without_passwords(std::string(why))}});
}

void log_observer::set_back() noexcept {
  log_.error("set_back",
             {{"text",
               "the database lost what it had acknowledged (a fail-over, or a restore): "
               "the work in hand is interrupted and resumed"}});
}

void log_observer::retried(std::string_view transaction, std::string_view why) noexcept {
  if (!retried_.may_speak()) return;
  log_.warning("retried", {{"what", transaction}, {"text", without_passwords(std::string(why))}});
}

}  // namespace command
