#include "wire/schedules.hpp"

#include "cli/format.hpp"
#include "cli/schedule_words.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace command {

namespace {

using json = nlohmann::ordered_json;

}  // namespace

nlohmann::ordered_json json_of(daybook::schedule_info const& of) {
  auto const& how = of.options;
  return {{"name", of.name},
          {"cron", of.cron},
          {"zone", how.zone},
          {"gap", word_in(gap_words, how.changes.gap)},
          {"fold", word_in(fold_words, how.changes.fold)},
          {"state", word_in(schedule_state_words, of.state)},
          {"next", command::json_of(of.next)},
          {"running", command::json_of(of.running)},
          {"node", of.running ? json(of.node) : json(nullptr)},
          {"pid", of.running ? json(of.pid) : json(nullptr)},
          {"interrupted_since", command::json_of(of.interrupted)},
          {"overdue_since", command::json_of(of.overdue)},
          {"decided", iso(of.decided)},
          {"window", iso(of.window)},
          {"catch_up", word_in(catch_up_words, how.catch_up)},
          {"most", how.most},
          {"grace_ms", std::chrono::milliseconds(how.grace).count()},
          {"overlap", word_in(overlap_words, how.overlap)},
          {"attempts", how.attempts},
          {"backoff_ms", how.backoff.count()},
          {"longest_backoff_ms", how.longest_backoff.count()},
          {"crash_limit", how.crash_limit},
          {"keep", how.keep}};
}

nlohmann::ordered_json json_of(daybook::tick_info const& of) {
  bool const skipped = of.state == daybook::tick_state::skipped;
  return {{"tick", iso(of.at)},
          {"first", iso(of.first)},
          {"count", of.count},
          {"state", of.interrupted ? interrupted_word : word_in(tick_state_words, of.state)},
          {"state_code", static_cast<int>(of.state)},
          {"window_start", skipped ? json(nullptr) : json(iso(of.window.from))},
          {"window_end", skipped ? json(nullptr) : json(iso(of.window.to))},
          {"due", command::json_of(of.due)},
          {"launched", command::json_of(of.launched)},
          {"interrupted_since", command::json_of(of.interrupted)},
          {"node", of.node.empty() ? json(nullptr) : json(of.node)},
          {"pid", of.node.empty() ? json(nullptr) : json(of.pid)},
          {"ended", command::json_of(of.ended)},
          {"failures", of.failures},
          {"crashes", of.crashes},
          {"by_hand", of.by_hand},
          {"reason", of.reason},
          {"key", of.run}};
}

}  // namespace command
