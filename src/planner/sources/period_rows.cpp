#include "planner/sources/period_rows.hpp"

#include "core/tx/transact.hpp"
#include "db/cells.hpp"
#include "planner/definition.hpp"
#include "queue/members/store.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace daybook {
inline namespace v1 {
namespace planners {

namespace {

constexpr std::int64_t most_at_once = 1'000'000;
constexpr std::int64_t periods_at_once = 1000;

/// From the columns member, task_state, asked.
open_period::course course_of(std::span<cell const> columns) {
  using course = open_period::course;
  std::optional<std::int64_t> member;
  std::optional<std::int64_t> state;
  bool asked = false;
  decode(columns[0], member);
  decode(columns[1], state);
  decode(columns[2], asked);
  if (!member) return course::none;
  if (asked || !state) return course::under_way;
  switch (static_cast<task_state>(*state)) {
    case task_state::succeeded: return course::succeeded;
    case task_state::failed:
    case task_state::dead:
    case task_state::discarded: return course::failed;
    case task_state::waiting:
    case task_state::running:
    case task_state::quarantined:
    case task_state::unknown: break;  // a person says of an unknown one
  }
  return course::under_way;
}

open_period open_in(std::span<cell const> row) {
  open_period out;
  std::int64_t launches = 0;
  out.what = period_in(row).value_or(period{});
  decode(row[3], launches);
  out.launched_before = launches > 0;
  out.launched = db::time_in(row[4]);
  out.reopened = db::time_in(row[5]).has_value();
  out.task = course_of(row.subspan(6));
  return out;
}

/// Whether a task stands for the period whose end the planner has still to see.
bool is_awaited(open_period const& one) {
  using course = open_period::course;
  if (!one.launched_before && !one.launched) return false;
  return one.task == course::under_way || (one.task == course::succeeded && !one.reopened);
}

/// The tasks of periods are looked for in the planner's queue: in another one they would be
/// launched once more.
void check_none_awaited(core::context const& context, definition const& before) {
  auto const queue = queues::look(context, before.options.queue);
  if (!queue) return;
  for (auto const state : {page_of_periods::state::launched, page_of_periods::state::due}) {
    page_of_periods periods{.of = state, .mark = timestamp::min(), .limit = periods_at_once};
    for (;;) {
      auto const page = read_open(context, before.id, queue->id, periods);
      auto const found = std::find_if(page.begin(), page.end(), is_awaited);
      if (found != page.end()) {
        bad(before.name, "the task of period " + found->what.key + " is in queue '" +
                             before.options.queue +
                             "', and the plan has not seen its end: its queue may be changed when "
                             "a pass has; until then make another plan");
      }
      if (std::cmp_less(page.size(), periods.limit)) break;
      periods.mark = page.back().what.start;
    }
  }
}

}  // namespace

std::optional<period> period_in(std::span<cell const> columns) {
  auto const start = db::time_in(columns[0]);
  if (!start) return std::nullopt;
  period out{.start = *start, .end = db::time_in(columns[1]).value_or(timestamp{}), .key = {}};
  decode(columns[2], out.key);
  return out;
}

bounds bounds_of(core::context const& context, std::int64_t planner, timestamp since) {
  bounds out;
  core::read(context, [&](db::session& session) {
    auto const found = db::run(session, context.sql["period.bounds"], {planner, db::us_of(since)});
    auto const row = found.row(0);
    out.now = db::time_in(row[0]).value_or(timestamp{});
    out.first = period_in(row.subspan(1));
    out.last = period_in(row.subspan(4));
    out.open = db::time_in(row[7]);
    auto const launched = db::time_in(row[8]);
    if (launched && (!out.open || *launched < *out.open)) out.open = launched;
  });
  return out;
}

std::vector<open_period> read_open(core::context const& context, std::int64_t planner,
                                   std::int64_t queue, page_of_periods const& periods) {
  auto const page =
      context.sql.made("period.open", {{"beyond", periods.newest_first ? "<" : ">"},
                                       {"order", periods.newest_first ? "desc" : "asc"}});
  std::vector<open_period> out;
  core::read(context, [&](db::session& session) {
    out.clear();
    auto const found = db::run(session, page,
                               {planner, queue, static_cast<std::int64_t>(periods.of),
                                db::us_of(periods.mark), periods.limit});
    for (std::size_t i = 0; i < found.size(); ++i) out.push_back(open_in(found.row(i)));
  });
  return out;
}

void examine_window(core::context const& context, std::string_view name, std::string const& queue,
                    window_strategy const& strategy) {
  auto const cut = [&] {
    try {
      return periods(strategy);
    } catch (error const& e) {
      throw error(e.facts(), "plan '" + std::string(name) + "': its zone: " + e.what());
    }
  }();
  auto const known = look(context, name);
  auto const there = bounds_of(context, known ? known->id : 0, strategy.since);
  if (strategy.since > there.now) {
    bad(name, "its periods begin in the future (since): at " + utc_text(strategy.since) +
                  ", when the database's clock says " + utc_text(there.now));
  }
  if (strategy.since < timestamp(std::chrono::sys_days{std::chrono::year{1} / 1 / 1})) {
    bad(name, "its periods begin before the year 1 (since)");
  }
  auto const end = there.last ? there.last->end : strategy.since;
  auto const before_first =
      cut.about(strategy.since, there.first ? there.first->start : strategy.since);
  auto const after_last = cut.about(end, there.now);
  if (auto const many = before_first + after_last; many > most_at_once) {
    auto const from = before_first > 0 ? strategy.since : end;
    bad(name, "some " + std::to_string(many) + " periods since " + utc_text(from) +
                  " (since): at most 1000000 are made at once; " +
                  (after_last > most_at_once && there.last
                       ? "they go on where the last one ends: make another plan"
                       : "begin later, or make them longer"));
  }
  auto const* const before =
      known ? std::get_if<window_strategy>(&known->options.strategy) : nullptr;
  if (before != nullptr && (before->each != strategy.each || before->count != strategy.count ||
                            before->zone != strategy.zone)) {
    bad(name, "how its periods are cut (each, count, zone) does not change any more: make another");
  }
  if (before != nullptr && known->options.queue != queue) check_none_awaited(context, *known);
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
