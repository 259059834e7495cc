#include "wire/queues.hpp"

#include "cli/format.hpp"
#include "cli/queue_words.hpp"
#include "config/options.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace command {

namespace {

using json = nlohmann::ordered_json;

using std::chrono::milliseconds;

milliseconds ms(std::chrono::microseconds length) {
  return std::chrono::floor<milliseconds>(length);
}

}  // namespace

nlohmann::ordered_json json_of(daybook::queue_info const& of) {
  auto const& how = of.options;
  return {{"name", of.name},
          {"paused", of.paused},
          {"period_ms", ms(how.period).count()},
          {"grain_ms", ms(how.grain).count()},
          {"cadence", word_in(cadence_words, how.period_anchor)},
          {"mode", daybook::word_of(how.mode)},
          {"every_outcome", how.record_every_outcome},
          {"attempts", how.attempts},
          {"backoff_ms", how.backoff.count()},
          {"longest_backoff_ms", how.longest_backoff.count()},
          {"crash_limit", how.crash_limit},
          {"limit", how.running_limit},
          {"rate", how.rate ? text_of(*how.rate) : ""},
          {"burst", how.burst},
          {"rounds", how.rounds},
          {"round", command::json_of(of.round)},
          {"on_new", word_in(on_new_words, how.new_member_policy)},
          {"retention_ms", milliseconds(how.retention).count()},
          {"forget_done_ms", milliseconds(how.done_retention).count()},
          {"in_order", how.in_order},
          {"segment", how.segment}};
}

nlohmann::ordered_json json_of(daybook::import_report const& of) {
  return {{"added", of.added}, {"present", of.present}};
}

nlohmann::ordered_json json_of(daybook::queue_counts const& of) {
  return {{"members", of.members},
          {"due", of.due},
          {"oldest_due", command::json_of(of.oldest_due)},
          {"overdue_since", command::json_of(of.overdue)},
          {"next_due", command::json_of(of.next_due)},
          {"waiting", of.waiting},
          {"running", of.running},
          {"abandoned", of.abandoned},
          {"claims", of.claims},
          {"succeeded", of.succeeded},
          {"failed", of.failed},
          {"dead", of.dead},
          {"unknown", of.unknown},
          {"suspect", of.suspect},
          {"discarded", of.discarded},
          {"segments", of.segments}};
}

nlohmann::ordered_json json_of(daybook::watch_info const& of) {
  return {{"table", of.of.table},
          {"key", of.of.key},
          {"installed", of.installed},
          {"reconciled", command::json_of(of.reconciled)}};
}

nlohmann::ordered_json json_of(daybook::task_info const& of) {
  return {{"id", of.id},
          {"key", of.key},
          {"payload", of.payload ? json(*of.payload) : json(nullptr)},
          {"state", daybook::word_of(of.state)},
          {"state_code", static_cast<int>(of.state)},
          {"priority", of.priority},
          {"attempts", of.attempts},
          {"crashes", of.crashes},
          {"turn", iso(of.turn)},
          {"due", command::json_of(of.due)},
          {"claim", of.claim},
          {"holder", of.holder},
          {"started", command::json_of(of.started)},
          {"finished", command::json_of(of.finished)},
          {"remark", of.remark}};
}

nlohmann::ordered_json json_of(std::vector<daybook::task_outcome> const& all) {
  auto out = json::array();
  for (auto const& one : all) {
    out.push_back({{"state", daybook::word_of(one.state)},
                   {"state_code", static_cast<int>(one.state)},
                   {"attempts", one.attempts},
                   {"turn", iso(one.turn)},
                   {"started", command::json_of(one.started)},
                   {"finished", command::json_of(one.finished)},
                   {"claim", one.claim},
                   {"remark", one.remark}});
  }
  return out;
}

}  // namespace command
