// What people ask about the periods of a window.
#include "base/limits.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"
#include "planner/sources/period_rows.hpp"
#include "planner/store.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace daybook {
inline namespace v1 {

std::string_view word_of(period_state state) noexcept {
  switch (state) {
    case period_state::missing: return "missing";
    case period_state::waiting: return "waiting";
    case period_state::running: return "running";
    case period_state::done: return "done";
    case period_state::failed: break;
  }
  return "failed";
}

namespace planners {

namespace {

window_strategy const& window_of(definition const& definition) {
  auto const* const how = std::get_if<window_strategy>(&definition.options.strategy);
  if (how != nullptr) return *how;
  bad(definition.name, "it has no periods: it is no window, but its strategy is " +
                           std::string(word_of(definition.options)));
}

period_state state_by(std::optional<task_info> const& task, bool asked) {
  if (!task) return period_state::failed;
  if (task->state == task_state::running) return period_state::running;
  if (asked) return period_state::waiting;
  switch (task->state) {
    case task_state::waiting:
    case task_state::quarantined: return period_state::waiting;
    case task_state::running: return period_state::running;
    case task_state::succeeded: return period_state::done;
    case task_state::failed:
    case task_state::dead:
    case task_state::unknown:
    case task_state::discarded: break;
  }
  return period_state::failed;
}

/// From the columns of period.list, and its task.
period_info info_in(std::span<cell const> row, store const& store, db::session& session) {
  auto at = period_in(row).value_or(period{});
  period_info out{.key = std::move(at.key), .from = at.start, .to = at.end};
  std::int64_t state = 0;
  decode(row[3], state);
  decode(row[4], out.launches);
  out.launched = db::time_in(row[5]);
  out.reopened = db::time_in(row[6]);
  out.done = db::time_in(row[7]);
  if (out.launches == 0 && state == 0) return out;
  auto const task = store.into().find_in(session, key(out.key));
  if (task) out.remark = task->remark;
  if (out.reopened) return out;
  out.state = out.done ? period_state::done
                       : state_by(task, task && store.into().is_asked_in(session, task->id));
  return out;
}

/// The rows of [from, to), at most so many of them.
std::vector<period_info> rows_of(store const& store, timestamp from, timestamp to,
                                 bool newest_first, std::int64_t most) {
  auto const list =
      store.with().sql.made("period.list", {{"order", newest_first ? "desc" : "asc"}});
  std::vector<period_info> out;
  core::read(store.with(), [&](db::session& session) {
    out.clear();
    auto const found =
        db::run(session, list, {store.declared().id, db::us_of(from), db::us_of(to), most});
    for (std::size_t i = 0; i < found.size(); ++i)
      out.push_back(info_in(found.row(i), store, session));
  });
  return out;
}

}  // namespace

std::vector<period_info> store::grid(grid_query const& query) const {
  with().check_process();
  auto const& how = window_of(definition_);
  base::limits("plan", definition_.name)
      .between("the number of periods (limit)", query.limit, 1, 10'000);
  auto const there = bounds_of(with(), definition_.id, how.since);
  auto const from = std::max(query.from.value_or(how.since), how.since);
  auto const to = std::min(query.to.value_or(there.now), there.now);
  auto const begin = there.first ? there.first->start : from;
  auto const end = there.last ? there.last->end : from;
  periods const periods(how, there.first, there.last);
  std::vector<period_info> out;
  auto const add_cut = [&](bool after_rows) {
    walk over(periods, after_rows ? std::max(from, end) : from,
              after_rows ? to : std::min(to, begin), query.newest_first);
    while (std::cmp_less(out.size(), query.limit)) {
      auto one = over.next();
      if (!one) break;
      out.push_back({.key = std::move(one->key), .from = one->start, .to = one->end});
    }
  };
  add_cut(query.newest_first);
  // Of those within the bounds: what a pass has made since then is cut here.
  auto rows = rows_of(*this, std::max(from, begin), std::min(to, end), query.newest_first,
                      query.limit - std::ssize(out));
  std::move(rows.begin(), rows.end(), std::back_inserter(out));
  add_cut(!query.newest_first);
  return out;
}

timestamp store::watermark() const {
  with().check_process();
  auto const& how = window_of(definition_);
  auto const there = bounds_of(with(), definition_.id, how.since);
  periods const periods(how, there.first, there.last);
  // Also where the plan begins sooner than when its rows were made.
  if (there.first) {
    if (auto const sooner = walk(periods, how.since, there.first->start, false).next()) {
      return sooner->start;
    }
  }
  if (there.open) return *there.open;
  return periods.from(there.last ? std::max(how.since, there.last->end) : how.since).start;
}

bool store::reopen(key const& period, audit_note const& note) const {
  window_of(definition_);
  return change("reopen", "period " + period.str() + "; ", note, [&](db::session& session) {
    return db::run(session, with().sql["period.reopen"], {definition_.id, period.str()}).affected >
           0;
  });
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
