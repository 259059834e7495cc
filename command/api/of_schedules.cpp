// Schedules: their ticks, those that come, and what people ask for.
#include "api/handlers.hpp"
#include "cli/dates.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/schedule_words.hpp"
#include "wire/schedules.hpp"

#include <daybook/cron.hpp>
#include <daybook/zone.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace command::api {

namespace {

using json = nlohmann::ordered_json;

constexpr int most_ticks = 5000;

daybook::schedule schedule_in(call const& asked) {
  auto found = asked.book().schedule(asked.name("schedule"));
  if (found) return std::move(*found);
  missing("The book has no schedule " + asked.name("schedule") + ".");
}

daybook::timestamp tick_in(std::string const& text) {
  try {
    return instant_from(text);
  } catch (complaint const&) {
    throw refusal(400, "bad-argument", "A tick is an instant: 2026-11-21T09:00:00Z.");
  }
}

daybook::timestamp now() {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

reply waits_for_daemon(std::string const& text) {
  return {.body = {{"text", text}, {"waits_for", "a daemon"}}, .status = 202};
}

}  // namespace

reply get_schedules(call& asked) {
  auto items = json::array();
  for (auto const& one : asked.book().schedules()) items.push_back(json_of(one));
  return list_of(std::move(items));
}

reply get_schedule(call& asked) {
  auto out = json_of(schedule_in(asked).info());
  out["changes"] = command::json_of(
      asked.book().changes(daybook::process(asked.name("schedule")), daybook::key("-")));
  return {.body = std::move(out)};
}

reply get_ticks(call& asked) {
  daybook::ticks_query query;
  query.limit = asked.number("limit", 100);
  if (auto const state = asked.text("state"); !state.empty()) {
    query.state = value_in(tick_state_words, state);
  }
  if (auto const after = asked.after(); !after.empty()) query.before = tick_in(after);
  auto const found = schedule_in(asked).ticks(query);
  auto items = json::array();
  for (auto const& one : found) items.push_back(json_of(one));
  bool const is_full = std::cmp_equal(found.size(), query.limit);
  return list_of(std::move(items), next_after(is_full, is_full ? iso(found.back().at) : ""));
}

reply get_next(call& asked) {
  auto const info = schedule_in(asked).info();
  auto const cron = daybook::cron::parse(info.cron).hashed(info.name);
  daybook::zone const zone(info.options.zone);
  auto items = json::array();
  auto at = now();
  for (int i = 0; i < asked.number("count", 10); ++i) {
    auto const tick = cron.next(at, zone, info.options.changes);
    if (!tick) break;
    at = *tick;
    items.push_back(json_of_coming(*tick, zone));
  }
  return list_of(std::move(items));
}

reply get_density(call& asked) {
  auto const from = std::chrono::floor<std::chrono::hours>(now());
  std::vector<std::int64_t> hours(static_cast<std::size_t>(asked.number("days", 7)) * 24);
  auto const to = from + std::chrono::hours(hours.size());
  int walked = 0;
  for (auto const& one : asked.book().schedules()) {
    if (one.state != daybook::schedule_state::active) continue;
    try {
      auto const cron = daybook::cron::parse(one.cron).hashed(one.name);
      daybook::zone const zone(one.options.zone);
      auto tick = cron.next(from - std::chrono::microseconds{1}, zone, one.options.changes);
      while (tick && *tick < to && walked < most_ticks) {
        ++walked;
        auto const hour = std::chrono::floor<std::chrono::hours>(*tick) - from;
        ++hours.at(static_cast<std::size_t>(hour.count()));
        tick = cron.next(*tick, zone, one.options.changes);
      }
    } catch (daybook::error const& e) {
      // A zone that this machine does not have: its schedules are left out.
      if (e.kind() != daybook::error_code::bad_argument) throw;
    }
  }
  return {.body = {{"from", iso(from)}, {"hours", hours}, {"complete", walked < most_ticks}}};
}

reply trigger_schedule(call& asked) {
  auto const tick = schedule_in(asked).trigger(asked.note());
  return waits_for_daemon("The tick " + instant(tick) + " is due now.");
}

reply pause_schedule(call& asked) {
  return told(schedule_in(asked).pause(asked.note()) ? "It is paused." : "It was paused before.");
}

reply resume_schedule(call& asked) {
  return told(schedule_in(asked).resume(asked.note()) ? "It is resumed." : "It was not paused.");
}

reply retry_tick(call& asked) {
  auto const tick = tick_in(asked.name("tick"));
  if (!schedule_in(asked).retry(tick, asked.note())) {
    not_in_that_state("There is no such tick, or it has not failed.");
  }
  return waits_for_daemon("The tick is due again.");
}

}  // namespace command::api
