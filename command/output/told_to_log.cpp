#include "output/told_to_log.hpp"

#include "config/options.hpp"

#include <nlohmann/json.hpp>

#include <string>

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

}  // namespace

void told_to_log::finished(daybook::run_event const& e) noexcept {
  // A pass is a run, too, every few seconds: one that did anything is logged as `planned`.
  if (e.step.empty() && !e.process.starts_with("plan ")) log_.info("done", who(e));
}

void told_to_log::failed(daybook::run_event const& e) noexcept {
  log_.warning("failed", with_text(e));
}

void told_to_log::released(daybook::run_event const& e) noexcept {
  log_.info("handed_back", with_text(e));
}

void told_to_log::lost(daybook::run_event const& e) noexcept { log_.warning("lost", with_text(e)); }

void told_to_log::taken_over(daybook::run_event const& e) noexcept {
  log_.warning("taken_over", with_text(e));
}

void told_to_log::renewal_late(std::chrono::milliseconds since, std::string_view why) noexcept {
  if (!late_.may_speak()) return;
  log_.warning("renewal_late",
               {{"seconds", std::chrono::round<std::chrono::seconds>(since).count()},
                {"text", without_passwords(std::string(why))}});
}

void told_to_log::set_back() noexcept {
  log_.error("set_back",
             {{"text",
               "the database lost what it had acknowledged (a fail-over, or a restore): "
               "the work in hand is interrupted and resumed"}});
}

void told_to_log::retried(std::string_view transaction, std::string_view why) noexcept {
  if (!retried_.may_speak()) return;
  log_.warning("retried", {{"what", transaction}, {"text", without_passwords(std::string(why))}});
}

}  // namespace command
