#include "wire/schedules.hpp"

#include "cli/format.hpp"
#include "cli/schedule_words.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace command {

namespace {

using json = nlohmann::ordered_json;

}  // namespace

nlohmann::ordered_json json_of(daybook::schedule_info const& schedule) {
  auto const& how = schedule.options;
  return {{"name", schedule.name},
          {"cron", schedule.cron},
          {"zone", how.zone},
          {"gap", word_in(gap_words, how.changes.gap)},
          {"fold", word_in(fold_words, how.changes.fold)},
          {"state", word_in(schedule_state_words, schedule.state)},
          {"next", command::json_of(schedule.next)},
          {"running", command::json_of(schedule.running)},
          {"node", schedule.running ? json(schedule.node) : json(nullptr)},
          {"pid", schedule.running ? json(schedule.pid) : json(nullptr)},
          {"interrupted_since", command::json_of(schedule.interrupted)},
          {"overdue_since", command::json_of(schedule.overdue)},
          {"decided", iso(schedule.decided)},
          {"window", iso(schedule.window)},
          {"catch_up", word_in(catch_up_words, how.catch_up)},
          {"most", how.max_ticks},
          {"grace_ms", std::chrono::milliseconds(how.grace).count()},
          {"overlap", word_in(overlap_words, how.overlap)},
          {"attempts", how.attempts},
          {"backoff_ms", how.backoff.count()},
          {"longest_backoff_ms", how.longest_backoff.count()},
          {"crash_limit", how.crash_limit},
          {"keep", how.keep}};
}

nlohmann::ordered_json json_of(daybook::tick_info const& tick) {
  bool const skipped = tick.state == daybook::tick_state::skipped;
  return {{"tick", iso(tick.at)},
          {"first", iso(tick.first)},
          {"count", tick.count},
          {"state", tick.interrupted ? interrupted_word : word_in(tick_state_words, tick.state)},
          {"state_code", static_cast<int>(tick.state)},
          {"window_start", skipped ? json(nullptr) : json(iso(tick.window.from))},
          {"window_end", skipped ? json(nullptr) : json(iso(tick.window.to))},
          {"due", command::json_of(tick.due)},
          {"launched", command::json_of(tick.launched)},
          {"interrupted_since", command::json_of(tick.interrupted)},
          {"node", tick.node.empty() ? json(nullptr) : json(tick.node)},
          {"pid", tick.node.empty() ? json(nullptr) : json(tick.pid)},
          {"ended", command::json_of(tick.ended)},
          {"failures", tick.failures},
          {"crashes", tick.crashes},
          {"by_hand", tick.by_hand},
          {"reason", tick.reason},
          {"key", tick.run}};
}

std::string offset_text(std::chrono::seconds offset) {
  std::chrono::hh_mm_ss const parts{std::chrono::abs(offset)};
  auto text = fmt::format("{}{:02}:{:02}", offset < std::chrono::seconds{0} ? '-' : '+',
                          parts.hours().count(), parts.minutes().count());
  if (parts.seconds() != std::chrono::seconds{0})
    text += fmt::format(":{:02}", parts.seconds().count());
  return text;
}

std::string local_text(daybook::wall_time const& wall) {
  auto text = seconds_of(daybook::timestamp{wall.time.time_since_epoch()});
  text.pop_back();
  return text;
}

nlohmann::ordered_json json_of_coming(daybook::timestamp tick, daybook::zone const& zone) {
  auto const wall = zone.to_local(tick);
  return {{"tick", iso(tick)},
          {"local", local_text(wall) + offset_text(wall.offset)},
          {"zone", zone.name()},
          {"abbreviation", wall.abbreviation},
          {"offset_s", wall.offset.count()},
          {"daylight", wall.daylight}};
}

}  // namespace command
