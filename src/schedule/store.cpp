#include "schedule/store.hpp"

#include "base/limits.hpp"
#include "core/admin/operate.hpp"
#include "core/lease/holder.hpp"
#include "schedule/decide.hpp"

#include <daybook/error.hpp>
#include <daybook/names.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace schedules {

namespace {

using std::chrono::microseconds;

constexpr std::chrono::hours longest{24 * 366};

[[noreturn]] void bad(std::string_view schedule, std::string const& reason) {
  throw error({.kind = error_code::bad_argument},
              "schedule '" + std::string(schedule) + "': " + reason);
}

[[noreturn]] void changes_all_the_time(std::string_view schedule) {
  bad(schedule, "it is being changed all the time, by others");
}

void check(std::string_view name, schedule_options const& options) {
  check_name("schedule name", name);
  base::limits const limits("schedule", name);
  limits.between("'most'", options.max_ticks, 1, 100'000);
  limits.between("the grace", options.grace, std::chrono::seconds{1}, longest);
  limits.between("the number of attempts", options.attempts, 1, 1000);
  limits.between("the first back-off", options.backoff, std::chrono::seconds{0}, longest);
  limits.between("the longest back-off", options.longest_backoff, options.backoff, longest);
  limits.between("the crash limit", options.crash_limit, 1, 100);
  limits.between("the number of ticks kept", options.keep, 10, 1'000'000);
}

/// What decides which instants are ticks.
bool same_ticks(definition const& there, cron const& when, schedule_options const& options) {
  return there.when.text() == when.text() && there.options.zone == options.zone &&
         there.options.changes == options.changes;
}

bool same(definition const& there, cron const& when, schedule_options const& wanted) {
  auto const& has = there.options;
  return there.state != schedule_state::removed && same_ticks(there, when, wanted) &&
         has.catch_up == wanted.catch_up && has.max_ticks == wanted.max_ticks &&
         has.grace == wanted.grace && has.overlap == wanted.overlap &&
         has.attempts == wanted.attempts && has.backoff == wanted.backoff &&
         has.longest_backoff == wanted.longest_backoff && has.crash_limit == wanted.crash_limit &&
         has.keep == wanted.keep;
}

void insert(core::context const& context, std::string_view name, cron const& when,
            schedule_options const& options) {
  std::optional<std::int64_t> since;
  if (options.since) since = us_of(*options.since);
  core::write(
      context, {.name = "schedule"}, context.sql["schedule.make"],
      {name, when.text(), std::string_view(options.zone),
       static_cast<std::int64_t>(options.changes.gap),
       static_cast<std::int64_t>(options.changes.fold), static_cast<std::int64_t>(options.catch_up),
       std::int64_t{options.max_ticks}, std::int64_t{microseconds(options.grace).count()},
       static_cast<std::int64_t>(options.overlap), std::int64_t{options.attempts},
       std::int64_t{microseconds(options.backoff).count()},
       std::int64_t{microseconds(options.longest_backoff).count()},
       std::int64_t{options.crash_limit}, std::int64_t{options.keep}, to_value(since)});
}

/// What is due is not launched any more; where it cannot be told what that is, this is said.
std::optional<skipped> skip_until_now(definition const& schedule, std::string const& why) {
  if (schedule.in) return skip_all(schedule, schedule.now, why);
  if (schedule.now <= schedule.decided) return std::nullopt;
  return skipped{schedule.now, schedule.now, 1,
                 "what was missed until now is not known: its zone, " + schedule.options.zone +
                     ", is not on this machine"};
}

void change(core::context const& context, definition const& schedule, cron const& when,
            schedule_options const& options) {
  bool const removed = schedule.state == schedule_state::removed;
  bool const renewed = removed || !same_ticks(schedule, when, options);
  auto const decided = renewed ? std::max(schedule.decided, schedule.now) : schedule.decided;
  std::optional<skipped> skip;
  if (renewed && !removed) skip = skip_until_now(schedule, "missed; the expression changed");
  core::transact(context, {.name = "schedule"}, [&](db::session& session) {
    auto const changed =
        db::run(session, context.sql["schedule.change"],
                {std::string_view(schedule.name), schedule.version, when.text(),
                 std::string_view(options.zone), static_cast<std::int64_t>(options.changes.gap),
                 static_cast<std::int64_t>(options.changes.fold),
                 static_cast<std::int64_t>(options.catch_up), std::int64_t{options.max_ticks},
                 std::int64_t{microseconds(options.grace).count()},
                 static_cast<std::int64_t>(options.overlap), std::int64_t{options.attempts},
                 std::int64_t{microseconds(options.backoff).count()},
                 std::int64_t{microseconds(options.longest_backoff).count()},
                 std::int64_t{options.crash_limit}, std::int64_t{options.keep}, us_of(decided)})
            .affected;
    if (changed == 0) return core::decision::rollback;
    if (skip) write_skipped(session, context, schedule, *skip);
    return core::decision::commit;
  });
}

std::vector<tick_info> ticks_of(db::table const& found) {
  std::vector<tick_info> out(found.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = tick_of(found.row(i));
  return out;
}

}  // namespace

std::optional<definition> look(core::context const& context, std::string_view name, zones& all) {
  db::table found;
  core::read(context, [&](db::session& session) {
    found = db::run(session, context.sql["schedule.look"],
                    {name, std::int64_t{core::max_skew.count()}});
  });
  if (found.size() == 0) return std::nullopt;
  return definition_of(found.row(0), all);
}

std::vector<definition> all(core::context const& context, zones& zones) {
  db::table found;
  core::read(context, [&](db::session& session) {
    found = db::run(session, context.sql["schedule.all"], {std::int64_t{core::max_skew.count()}});
  });
  std::vector<definition> out;
  out.reserve(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) out.push_back(definition_of(found.row(i), zones));
  return out;
}

std::optional<tick_info> find(core::context const& context, std::string_view name, timestamp tick) {
  std::optional<tick_info> out;
  core::read(context, [&](db::session& session) {
    auto const found = db::run(session, context.sql["tick.find"], {name, us_of(tick)});
    out.reset();
    if (found.size() > 0) out = tick_of(found.row(0));
  });
  return out;
}

schedule_info info_of(definition const& schedule) {
  schedule_info out;
  out.name = schedule.name;
  out.cron = schedule.when.text();
  out.options = schedule.options;
  out.state = schedule.state;
  out.decided = schedule.decided;
  out.window = schedule.window;
  out.running = schedule.running;
  out.interrupted = schedule.left;
  if (schedule.running) {
    out.node = schedule.node;
    out.pid = schedule.pid;
  }
  out.overdue = overdue(schedule);
  if (schedule.state == schedule_state::active && schedule.in)
    out.next = schedule.next(std::max(schedule.decided, schedule.now));
  return out;
}

void write_skipped(db::session& session, core::context const& context, definition const& schedule,
                   skipped const& skipped) {
  std::string_view const name = schedule.name;
  auto const key = text_of(skipped.last);
  if (skipped.goes_on && db::run(session, context.sql["tick.extend"],
                                 {name, us_of(schedule.decided), us_of(skipped.last), skipped.count,
                                  std::string_view(key), std::string_view(skipped.why)})
                                 .affected == 1) {
    return;
  }
  db::run(session, context.sql["tick.add"],
          {name, us_of(skipped.last), us_of(skipped.first), skipped.count,
           static_cast<std::int64_t>(tick_state::skipped), us_of(skipped.last), std::int64_t{0},
           std::string_view(key), std::string_view(skipped.why)});
}

std::shared_ptr<store> make(core::context const& context, std::string_view name, cron const& when,
                            schedule_options const& options) {
  check(name, options);
  static_cast<void>(when.hashed(name));
  zones here;
  static_cast<void>(here[options.zone]);
  auto const attempt = [&]() -> std::optional<std::shared_ptr<store>> {
    auto const found = look(context, name, here);
    if (found && same(*found, when, options)) {
      return std::make_shared<store>(context, std::string(name));
    }
    // Nothing where another was faster, or made it otherwise: look again.
    found ? change(context, *found, when, options) : insert(context, name, when, options);
    return std::nullopt;
  };
  return core::repeat_if_changed(attempt, [&] { changes_all_the_time(name); });
}

definition store::look() const {
  zones here;
  auto found = schedules::look(context_, name_, here);
  if (!found) bad(name_, "there is none of that name");
  return std::move(*found);
}

schedule_info store::info() const { return info_of(look()); }

timestamp store::trigger(audit_note const& note) const {
  auto const attempt = [&]() -> std::optional<timestamp> {
    auto now_is = look();
    if (now_is.state == schedule_state::removed) bad(name_, "it was removed");
    // Without it nobody can say what is skipped for this tick.
    if (!now_is.in) now_is.in = zone(now_is.options.zone);
    auto const tick = std::max(now_is.now, now_is.decided + microseconds{1});
    // Those that went by while it was paused, too: nothing before `tick` is looked at again.
    bool const paused = now_is.state == schedule_state::paused;
    auto const skip =
        skip_all(now_is, tick - microseconds{1},
                 paused ? "it was paused" : "missed; one was asked for by hand after it");
    auto const key = text_of(tick);
    std::string_view const name = name_;
    bool const done =
        core::make({context_, name_, key, "trigger", core::bounded_remark(note)},
                   "version " + std::to_string(now_is.version), [&](db::session& session) {
                     if (db::run(session, context_.sql["schedule.set"],
                                 {name, now_is.version, static_cast<std::int64_t>(now_is.state),
                                  us_of(tick), us_of(tick)})
                             .affected == 0) {
                       return false;
                     }
                     if (skip) write_skipped(session, context_, now_is, *skip);
                     db::run(session, context_.sql["tick.add"],
                             {name, us_of(tick), us_of(tick), std::int64_t{1},
                              static_cast<std::int64_t>(tick_state::due), us_of(now_is.window),
                              std::int64_t{1}, std::string_view(key), std::string_view()});
                     return true;
                   });
    return done ? std::optional(tick) : std::nullopt;
  };
  return core::repeat_if_changed(attempt, [&] { changes_all_the_time(name_); });
}

bool store::retry(timestamp tick, audit_note const& note) const {
  auto const was = find(tick);
  if (!was || was->state != tick_state::failed) return false;
  auto const ended = was->ended ? text_of(*was->ended) : std::string();
  return core::make(
      {context_, name_, was->run, "retry", core::bounded_remark(note)}, "failed at " + ended,
      [&](db::session& session) {
        return db::run(session, context_.sql["schedule.touch"], {std::string_view(name_)})
                       .affected == 1 &&
               db::run(session, context_.sql["tick.again"], {std::string_view(name_), us_of(tick)})
                       .affected == 1;
      });
}

bool store::set(schedule_state state, std::string_view action, std::string const& why_skipped,
                audit_note const& note, std::function<bool(schedule_state)> const& check) const {
  std::string const key = "-";
  auto const attempt = [&]() -> std::optional<bool> {
    auto const now_is = look();
    if (!check(now_is.state)) return false;
    // Its ticks go by while it is paused; what was due before is decided by the pause itself, or,
    // where its zone is not here, by what ends the pause.
    std::optional<skipped> skip;
    if (now_is.in || state != schedule_state::paused) skip = skip_until_now(now_is, why_skipped);
    auto const decided = skip ? skip->last : now_is.decided;
    bool const done = core::make(
        {context_, name_, key, action, core::bounded_remark(note)},
        "version " + std::to_string(now_is.version), [&](db::session& session) {
          if (db::run(session, context_.sql["schedule.set"],
                      {std::string_view(name_), now_is.version, static_cast<std::int64_t>(state),
                       us_of(decided), us_of(now_is.window)})
                  .affected == 0) {
            return false;
          }
          if (skip) write_skipped(session, context_, now_is, *skip);
          return true;
        });
    return done ? std::optional(true) : std::nullopt;
  };
  return core::repeat_if_changed(attempt, [&] { changes_all_the_time(name_); });
}

bool store::pause(audit_note const& note) const {
  return set(schedule_state::paused, "pause", "missed; it was paused", note,
             [](schedule_state was) { return was == schedule_state::active; });
}

bool store::resume(audit_note const& note) const {
  return set(schedule_state::active, "resume", "it was paused", note,
             [](schedule_state was) { return was == schedule_state::paused; });
}

bool store::remove(audit_note const& note) const {
  return set(schedule_state::removed, "remove", "missed; it was removed", note,
             [](schedule_state was) { return was != schedule_state::removed; });
}

std::vector<tick_info> store::ticks(ticks_query const& query) const {
  base::limits("schedule", name_).between("the limit", query.limit, 1, 10'000);
  auto const before =
      query.before ? us_of(*query.before) : std::numeric_limits<std::int64_t>::max();
  auto const state = query.state ? static_cast<std::int64_t>(*query.state) : std::int64_t{-1};
  std::vector<tick_info> out;
  core::read(context_, [&](db::session& session) {
    out = ticks_of(db::run(session, context_.sql["tick.list"],
                           {std::string_view(name_), before, state, std::int64_t{query.limit}}));
  });
  for (auto& one : out) tell_who_runs(one);
  return out;
}

std::optional<tick_info> store::find(timestamp tick) const {
  auto out = schedules::find(context_, name_, tick);
  if (out) tell_who_runs(*out);
  return out;
}

/// A schedule has one tick that runs. It may have ended since `tick` was read.
void store::tell_who_runs(tick_info& tick) const {
  if (tick.state != tick_state::running) return;
  auto const here = look();
  if (here.running != tick.at) return;
  tick.node = here.node;
  tick.pid = here.pid;
  tick.interrupted = here.left;
}

}  // namespace schedules
}  // namespace v1
}  // namespace daybook
