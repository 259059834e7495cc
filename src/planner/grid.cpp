// What people ask about the periods of a window.
#include "base/limits.hpp"
#include "core/transact.hpp"
#include "db/cells.hpp"
#include "planner/period_rows.hpp"
#include "planner/store.hpp"

#include <map>
#include <string>
#include <utility>
#include <variant>

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

window_strategy const& window_of(definition const& of) {
  auto const* const how = std::get_if<window_strategy>(&of.options.strategy);
  if (how != nullptr) return *how;
  bad(of.name, "it has no periods: it is no window, but its strategy is " +
                   std::string(word_of(of.options)));
}

period_state state_by(std::optional<task_info> const& task, bool asked) {
  if (!task) return period_state::failed;
  if (task->state == task_state::running) return period_state::running;
  if (asked) return period_state::waiting;
  switch (task->state) {
    case task_state::waiting:
    case task_state::suspect: return period_state::waiting;
    case task_state::running: return period_state::running;
    case task_state::succeeded: return period_state::done;
    case task_state::failed:
    case task_state::dead:
    case task_state::unknown:
    case task_state::discarded: break;
  }
  return period_state::failed;
}

/// From the columns of period.list after the start, and its task.
void put_row(period_info& to, std::span<cell const> row, store const& of, db::session& on) {
  std::int64_t state = 0;
  decode(row[1], state);
  decode(row[2], to.launches);
  to.launched = db::time_in(row[3]);
  to.reopened = db::time_in(row[4]);
  to.done = db::time_in(row[5]);
  if (to.launches == 0 && state == 0) return;
  auto const task = of.into().find_in(on, key(to.key));
  if (task) to.remark = task->remark;
  if (to.reopened) return;
  to.state =
      to.done ? period_state::done : state_by(task, task && of.into().is_asked_in(on, task->id));
}

}  // namespace

std::vector<period_info> store::grid(grid_query const& what) const {
  with().check_process();
  auto const& how = window_of(of_);
  base::limits("plan", of_.name).between("the number of periods (limit)", what.limit, 1, 10'000);
  auto const now = bounds_of(with(), of_.id, how.since).now;
  periods const in(how);
  walk over(in, std::max(what.from.value_or(how.since), how.since),
            std::min(what.to.value_or(now), now), what.newest_first);
  std::vector<period_info> out;
  std::map<timestamp, std::size_t> places;
  while (std::cmp_less(out.size(), what.limit)) {
    auto one = over.next();
    if (!one) break;
    places.emplace(one->start, out.size());
    out.push_back({.key = std::move(one->key), .from = one->start, .to = one->end});
  }
  if (out.empty()) return out;
  core::read(with(), [&](db::session& on) {
    auto const found =
        db::run(on, with().sql["period.list"],
                {of_.id, db::us_of(places.begin()->first), db::us_of(places.rbegin()->first)});
    for (std::size_t i = 0; i < found.size(); ++i) {
      auto const place = places.find(db::time_in(found.row(i)[0]).value_or(timestamp{}));
      if (place != places.end()) put_row(out[place->second], found.row(i), *this, on);
    }
  });
  return out;
}

timestamp store::watermark() const {
  with().check_process();
  auto const& how = window_of(of_);
  auto const there = bounds_of(with(), of_.id, how.since);
  auto const first = periods(how).from(how.since).start;
  // Also where the plan begins sooner than when its rows were made.
  if (!there.first || first < *there.first) return first;
  return there.open.value_or(there.end.value_or(first));
}

bool store::reopen(key const& period, remark const& by) const {
  window_of(of_);
  return change("reopen", "period " + period.str() + "; ", by, [&](db::session& on) {
    return db::run(on, with().sql["period.reopen"], {of_.id, period.str()}).affected > 0;
  });
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
