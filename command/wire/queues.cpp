#include "wire/queues.hpp"

#include "cli/format.hpp"
#include "cli/queue_words.hpp"
#include "config/options.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace command {

namespace {

using json = nlohmann::ordered_json;

using std::chrono::floor;
using std::chrono::milliseconds;

}  // namespace

nlohmann::ordered_json json_of(daybook::queue_info const& queue) {
  auto const& how = queue.options;
  return {{"name", queue.name},
          {"paused", queue.paused},
          {"period_ms", floor<milliseconds>(how.period).count()},
          {"grain_ms", floor<milliseconds>(how.grain).count()},
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
          {"round", command::json_of(queue.round)},
          {"on_new", word_in(on_new_words, how.new_member_policy)},
          {"retention_ms", milliseconds(how.retention).count()},
          {"forget_done_ms", milliseconds(how.done_retention).count()},
          {"in_order", how.in_order},
          {"segment", how.segment}};
}

nlohmann::ordered_json json_of(daybook::import_report const& report) {
  return {{"added", report.added}, {"present", report.present}};
}

nlohmann::ordered_json json_of(daybook::queue_counts const& counts) {
  return {{"members", counts.members},
          {"due", counts.due},
          {"oldest_due", command::json_of(counts.oldest_due)},
          {"overdue_since", command::json_of(counts.overdue)},
          {"next_due", command::json_of(counts.next_due)},
          {"waiting", counts.waiting},
          {"running", counts.running},
          {"abandoned", counts.abandoned},
          {"claims", counts.claims},
          {"succeeded", counts.succeeded},
          {"failed", counts.failed},
          {"dead", counts.dead},
          {"unknown", counts.unknown},
          {"suspect", counts.quarantined},
          {"discarded", counts.discarded},
          {"segments", counts.segments}};
}

nlohmann::ordered_json json_of(daybook::table_sync_info const& watch) {
  return {{"table", watch.table.table},
          {"key", watch.table.key},
          {"installed", watch.installed},
          {"reconciled", command::json_of(watch.reconciled)}};
}

nlohmann::ordered_json json_of(daybook::task_info const& task) {
  return {{"id", task.id},
          {"key", task.key},
          {"payload", task.payload ? json(*task.payload) : json(nullptr)},
          {"state", daybook::word_of(task.state)},
          {"state_code", static_cast<int>(task.state)},
          {"priority", task.priority},
          {"attempts", task.attempts},
          {"crashes", task.crashes},
          {"turn", iso(task.turn)},
          {"due", command::json_of(task.due)},
          {"claim", task.claim},
          {"holder", task.holder},
          {"started", command::json_of(task.started)},
          {"finished", command::json_of(task.finished)},
          {"remark", task.remark}};
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
