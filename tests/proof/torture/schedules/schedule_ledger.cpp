#include "proof/torture/schedules/schedule_ledger.hpp"

#include "proof/torture/rows.hpp"

#include <daybook/cron.hpp>
#include <daybook/schedule.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace torture {

namespace {

using daybook::tick_state;
using daybook::timestamp;

struct tick_row {
  std::int64_t at = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  int state = 0;
  std::int64_t window = 0;
  std::int64_t launched = 0;  ///< 0: never
  std::int64_t failures = 0;
  std::int64_t crashes = 0;
  int by_hand = 0;
  bool has_reason = false;
  std::string run;
  bool forgotten = false;

  [[nodiscard]] bool is(tick_state what) const { return state == static_cast<int>(what); }
};

struct effect_row {
  std::int64_t tick = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::string node;
  std::int64_t attempt = 0;
};

struct picture {
  std::int64_t decided = 0;
  std::int64_t window = 0;
  std::int64_t begin = 0;
  std::int64_t running = 0;
  std::vector<tick_row> ticks;      ///< by instant; the forgotten ones, too
  std::vector<effect_row> effects;  ///< by instant of the tick
  std::map<std::string, std::int64_t> failed_attempts;
};

std::string text_of(std::int64_t us) {
  auto const fraction = std::to_string(1'000'000 + us % 1'000'000).substr(1);
  return std::to_string(us / 1'000'000) + "." + fraction;
}

/// What is read of a tick, here and where it is remembered.
constexpr std::array tick_columns{"schedule", "tick_us",   "first_us",    "ticks",
                                  "state",    "window_us", "launched_us", "failures",
                                  "crashes",  "by_hand",   "run_key",     "reason"};

std::string listed(std::string const& before) {
  std::string out;
  for (auto const* const one : tick_columns) out += (out.empty() ? "" : ", ") + before + one;
  return out;
}

/// Beside what the library keeps, each tick that it forgets, as it was before: so that one that is
/// gone is told from one that never was.
void remember_what_is_forgotten(support::fresh_database const& in, std::string_view dialect) {
  in.execute("create table tick_forgotten as select " + listed("") +
             " from daybook_tick where 1 = 0");
  auto const insert = "insert into tick_forgotten(" + listed("") + ") select " + listed("old.");
  std::string const trigger = "create trigger tick_is_forgotten after update on daybook_tick";
  if (dialect == "sqlite") {
    in.execute(trigger + " when new.state = 5 begin " + insert + "; end");
  } else if (dialect == "mysql") {
    in.execute(trigger + " for each row " + insert + " from dual where new.state = 5");
  } else {
    in.execute("create function remember_tick() returns trigger language plpgsql as $$ begin " +
               insert + "; return null; end $$");
    in.execute(trigger + " for each row when (new.state = 5) execute function remember_tick()");
  }
}

picture look(support::fresh_database const& in, std::string_view dialect, expectation const& of) {
  auto const here = "'" + of.name + "'";
  auto const ticks = [&](std::string const& kind, std::string const& table) {
    return line(dialect, {kind, "tick_us", "first_us", "ticks", "state", "window_us",
                          "coalesce(launched_us, 0)", "failures", "crashes", "by_hand",
                          "case when reason = '' then 0 else 1 end", "run_key"}) +
           " from " + table + " where schedule = " + here;
  };
  std::istringstream rows(in.query(lines_of(
      dialect,
      {line(dialect, {"'s'", "decided_us", "window_us", "created_us", "coalesce(running_us, 0)"}) +
           " from daybook_schedule where name = " + here,
       ticks("'t'", "daybook_tick"), ticks("'f'", "tick_forgotten"),
       line(dialect, {"'e'", "tick_us", "window_from", "window_to", "node", "attempt"}) +
           " from tick_effect where schedule = " + here,
       line(dialect, {"'a'", "run_key"}) +
           " from daybook_attempt where state = -1 and process = " + here})));
  picture out;
  for (std::string row; std::getline(rows, row);) {
    std::istringstream words(row);
    char kind = 0;
    words >> kind;
    if (kind == 's') {
      words >> out.decided >> out.window >> out.begin >> out.running;
    } else if (kind == 't' || kind == 'f') {
      auto& to = out.ticks.emplace_back();
      to.forgotten = kind == 'f';
      words >> to.at >> to.first >> to.count >> to.state >> to.window >> to.launched >>
          to.failures >> to.crashes >> to.by_hand >> to.has_reason >> to.run;
    } else if (kind == 'e') {
      auto& to = out.effects.emplace_back();
      words >> to.tick >> to.from >> to.to >> to.node >> to.attempt;
    } else {
      std::string key;
      words >> key;
      ++out.failed_attempts[key];
    }
    if (!words) throw std::runtime_error("the check cannot read '" + row + "'");
  }
  if (out.begin == 0) throw std::runtime_error("there is no schedule " + of.name);
  if (of.since) out.begin = of.since->time_since_epoch().count();
  std::ranges::sort(out.ticks, {}, &tick_row::at);
  std::ranges::sort(out.effects, {}, &effect_row::tick);
  return out;
}

void check_effects(picture const& what, expectation const& of, schedule_findings& to) {
  effect_row const* before = nullptr;
  for (auto const& one : what.effects) {
    auto const where = of.name + " at " + text_of(one.tick) + ", by " + one.node + ", attempt " +
                       std::to_string(one.attempt);
    if (before != nullptr && before->tick == one.tick) {
      to.add(schedule_flaw::duplicate,
             where + " and by " + before->node + ", attempt " + std::to_string(before->attempt));
    }
    auto const its = std::ranges::lower_bound(what.ticks, one.tick, {}, &tick_row::at);
    bool const known = its != what.ticks.end() && its->at == one.tick;
    if (!known || one.from != its->window || one.to != its->at || its->is(tick_state::skipped)) {
      to.add(schedule_flaw::window, where + ": " + text_of(one.from) + " to " + text_of(one.to));
    }
    before = &one;
  }
  to.effects += static_cast<std::int64_t>(what.effects.size());
}

void check_tick(picture const& what, tick_row const& one, std::string const& where,
                schedule_findings& to) {
  if (one.is(tick_state::due) || one.is(tick_state::running)) {
    to.add(schedule_flaw::unfinished, where);
  }
  if (one.is(tick_state::failed)) ++to.failed;
  if (one.is(tick_state::done) &&
      !std::ranges::binary_search(what.effects, one.at, {}, &effect_row::tick)) {
    to.add(schedule_flaw::lost, where);
  }
  auto const failed = what.failed_attempts.find(one.run);
  auto const failures = failed == what.failed_attempts.end() ? 0 : failed->second;
  // Asked for by a person, once or again: counted anew. What is forgotten has no attempts.
  if (!one.forgotten && (one.by_hand == 0 ? failures != one.failures : failures < one.failures)) {
    to.add(schedule_flaw::miscounted, where + ": " + std::to_string(one.failures) + " of " +
                                          std::to_string(failures) + " failures");
  }
  to.taken_over += one.crashes;
  if (one.launched == 0 || one.by_hand == 1) return;
  to.late_us.push_back(one.launched - one.at);
  if (one.launched < one.at) to.add(schedule_flaw::early, where);
}

/// Launched ones in their order, from the beginning of the schedule to its own window.
void check_tiling(picture const& what, expectation const& of, schedule_findings& to) {
  auto from = what.begin;
  for (auto const& one : what.ticks) {
    if (one.is(tick_state::skipped)) continue;
    auto const where = of.name + " at " + text_of(one.at);
    ++to.ticks;
    if (one.window != from) {
      to.add(schedule_flaw::tiling,
             where + ": from " + text_of(one.window) + ", not " + text_of(from));
    }
    from = one.at;
    check_tick(what, one, where, to);
  }
  if (what.window != from) {
    to.add(schedule_flaw::tiling,
           of.name + " at its end: " + text_of(what.window) + ", not " + text_of(from));
  }
  if (what.running != 0) to.add(schedule_flaw::unfinished, of.name);
}

/// Each instant of the expression has one row: its own, or one of those that were skipped.
void check_instants(picture const& what, expectation const& of, schedule_findings& to) {
  auto const when = daybook::cron::parse(of.cron).hashed(of.name);
  daybook::zone const in(of.zone);
  std::map<std::int64_t, std::int64_t> in_row;
  auto const next = [&](std::int64_t after) {
    return when.next(timestamp(std::chrono::microseconds(after)), in)
        .value()
        .time_since_epoch()
        .count();
  };
  for (auto at = next(what.begin); at <= what.decided; at = next(at)) {
    int covers = 0;
    for (auto const& row : what.ticks) {
      if (at < row.first || at > row.at) continue;
      ++covers;
      ++in_row[row.at];
    }
    auto const where = of.name + " at " + text_of(at);
    if (covers == 0) to.add(schedule_flaw::missed, where);
    if (covers > 1) to.add(schedule_flaw::twice, where);
  }
  for (auto const& row : what.ticks) {
    bool const skipped = row.is(tick_state::skipped);
    auto const count = in_row[row.at];
    if (skipped) to.skipped += count;
    bool const well =
        skipped ? count == row.count && row.has_reason : row.by_hand == 1 || count == 1;
    if (!well) {
      to.add(schedule_flaw::stray, of.name + " at " + text_of(row.at) + ": of " +
                                       std::to_string(row.count) + " " + std::to_string(count));
    }
  }
}

/// The newest are kept, of those that failed ten times as many.
void check_forgotten(picture const& what, expectation const& of, schedule_findings& to) {
  auto newer = static_cast<std::int64_t>(what.ticks.size());
  for (auto const& one : what.ticks) {
    --newer;
    auto const kept = of.keep * (one.is(tick_state::failed) ? 10 : 1);
    if (!one.forgotten) continue;
    ++to.forgotten;
    if (newer < kept) to.add(schedule_flaw::forgotten, of.name + " at " + text_of(one.at));
  }
}

}  // namespace

schedule_findings& schedule_findings::operator+=(schedule_findings const& other) {
  for (std::size_t at = 0; at < schedule_flaw_kinds; ++at) count[at] += other.count[at];
  ticks += other.ticks;
  effects += other.effects;
  skipped += other.skipped;
  failed += other.failed;
  forgotten += other.forgotten;
  taken_over += other.taken_over;
  late_us.insert(late_us.end(), other.late_us.begin(), other.late_us.end());
  said.insert(said.end(), other.said.begin(), other.said.end());
  return *this;
}

void schedule_findings::add(schedule_flaw what, std::string const& where) {
  auto const kind = static_cast<std::size_t>(what);
  ++count[kind];
  said.push_back(std::string(schedule_flaw_names[kind]) + ": " + where);
}

std::int64_t schedule_findings::all() const {
  return std::accumulate(count.begin(), count.end(), std::int64_t{0});
}

void make_tick_ledger(support::fresh_database const& in, std::string_view dialect) {
  std::string number = "id bigint primary key auto_increment";
  if (dialect == "sqlite") number = "id integer primary key autoincrement";
  if (dialect == "postgres") number = "id bigserial primary key";
  in.execute("create table tick_effect(" + number +
             ", schedule varchar(255) not null, tick_us bigint not null,"
             " window_from bigint not null, window_to bigint not null,"
             " node varchar(255) not null, attempt bigint not null)");
  remember_what_is_forgotten(in, dialect);
}

schedule_findings check_schedule(support::fresh_database const& in, std::string_view dialect,
                                 expectation const& of) {
  auto const what = look(in, dialect, of);
  schedule_findings out;
  check_effects(what, of, out);
  check_tiling(what, of, out);
  check_instants(what, of, out);
  check_forgotten(what, of, out);
  return out;
}

}  // namespace torture
