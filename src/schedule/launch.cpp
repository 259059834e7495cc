#include "schedule/launch.hpp"

#include "base/mutant.hpp"
#include "core/run/run.hpp"
#include "schedule/store.hpp"

#include <daybook/error.hpp>
#include <daybook/names.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace schedules {

namespace {

using std::chrono::microseconds;

/// So many decisions from one pruning to the next, which is part of the last: the more are kept,
/// the longer it takes to find the end of those.
std::int64_t prune_every(schedule_options const& options) {
  return std::clamp<std::int64_t>(options.keep / 8, 32, 1024);
}

/// So many go in one transaction, so that no lock is held for long.
constexpr std::int64_t prune_piece = 100;

/// What failed waits for a person, and is kept for so many times as long.
constexpr std::int64_t patience_with_failed = 10;

/// Doubled after each failure, with a jitter of a tenth: those that failed together, of an outage
/// say, do not all come back at once.
microseconds delay_after(schedule_options const& options, int failures) {
  auto delay = microseconds(options.backoff);
  for (int i = 1; i < failures && delay < options.longest_backoff; ++i) delay *= 2;
  delay = std::min(delay, microseconds(options.longest_backoff));
  thread_local std::minstd_rand random{std::random_device{}()};
  auto const tenth = delay.count() / 10;
  return delay + microseconds(std::uniform_int_distribution<std::int64_t>(0, tenth)(random));
}

tick_facts facts_of(definition const& schedule, tick_info const& tick) {
  return {schedule.name, tick.at, tick.window, tick.by_hand, tick.failures, tick.crashes};
}

/// What the end of a run means for its tick.
struct verdict {
  tick_state state = tick_state::done;
  int failures = 0;
  microseconds delay{0};
};

verdict judge(run_state ended, tick_facts const& facts, schedule_options const& options) {
  switch (ended) {
    case run_state::succeeded: return {tick_state::done, facts.failures, {}};
    case run_state::unknown: return {tick_state::failed, facts.failures, {}};
    default: break;
  }
  int const failures = facts.failures + 1;
  if (failures >= options.attempts || facts.crashes >= options.crash_limit) {
    return {tick_state::failed, failures, {}};
  }
  return {tick_state::due, failures, delay_after(options, failures)};
}

void write_end(db::session& session, core::context const& context, std::string const& schedule,
               timestamp tick, verdict const& verdict, std::string_view why) {
  std::string_view const name = schedule;
  db::run(session, context.sql["tick.end"],
          {name, us_of(tick), static_cast<std::int64_t>(verdict.state),
           std::int64_t{verdict.failures}, std::int64_t{verdict.delay.count()}, why});
  db::run(session, context.sql["schedule.end"], {name, us_of(tick)});
}

run_event event_of(definition const& schedule, std::string const& tick, std::string_view why) {
  return {schedule.name, tick, {}, 0, 0, why};
}

}  // namespace

attended launcher::attend(definition const& schedule) {
  // Before anything is taken: who cannot tell when its ticks come would only drop it again.
  if (!schedule.can_be_told()) static_cast<void>(zone(schedule.options.zone));
  if (schedule.its == standing::free || schedule.its == standing::orphan)
    return take_over(schedule);
  if (schedule.its == standing::failed) return end_failed(schedule);
  if (schedule.state == schedule_state::removed) return {};
  auto const what = decide(schedule, schedule.now);
  bool const open = !schedule.running && schedule.open_due && *schedule.open_due <= schedule.now;
  // In the order of their times: else work that takes longer than from tick to tick would never be
  // tried again.
  if (open && (what.nothing() || *schedule.open_due < *schedule.next(schedule.decided)))
    return try_again(schedule);
  if (what.launch) return launch(schedule, what);
  if (!what.skip) return {};
  return {{}, true, skip(schedule, *what.skip)};
}

bool launcher::advance(db::session& session, definition const& schedule,
                       decision const& decision) const {
  std::optional<std::int64_t> launch;
  std::string key;
  if (decision.launch) {
    launch = us_of(*decision.launch);
    key = text_of(*decision.launch);
  }
  if (db::run(session, context_.sql["schedule.advance"],
              {std::string_view(schedule.name), schedule.version, us_of(decision.until()),
               to_value(launch), std::string_view(key)})
          .affected == 0) {
    return false;
  }
  if (decision.skip) write_skipped(session, context_, schedule, *decision.skip);
  return true;
}

/// False: who looks next sees what became of it.
bool launcher::skip(definition const& schedule, skipped const& skipped) {
  try {
    return core::transact(context_, {.name = "tick"}, [&](db::session& session) {
             return advance(session, schedule, {skipped, {}}) ? core::decision::commit
                                                              : core::decision::rollback;
           }) == core::decision::commit;
  } catch (core::lost_reply const&) {
    return false;
  }
}

void launcher::prune(definition const& schedule, std::stop_token const& stop) {
  auto const every = prune_every(schedule.options);
  try {
    {
      std::lock_guard const lock(guard_);
      if (schedule.decisions % every != every - 1 && !owed_.contains(schedule.name)) return;
      owed_.insert(schedule.name);
    }
    prune_pieces(schedule, stop);
    std::lock_guard const lock(guard_);
    owed_.erase(schedule.name);
  } catch (std::exception const& e) {
    context_.watch.retried("prune", "schedule '" + schedule.name +
                                        "': its old ticks stay until its next launch: " + e.what());
  }
}

/// A piece at a time, and in all more than came since the last time. Without the schedule's row:
/// what is changed meanwhile is no more what may go, and stays.
void launcher::prune_pieces(definition const& schedule, std::stop_token const& stop) const {
  std::string_view const name = schedule.name;
  for (std::int64_t const failed : {0, 1}) {
    auto const keep =
        std::int64_t{schedule.options.keep} * (failed == 1 ? patience_with_failed : 1);
    std::optional<std::int64_t> cutoff;
    core::read(context_, [&](db::session& session) {
      cutoff.reset();
      auto const found = db::run(session, context_.sql["tick.cutoff"], {name, keep});
      if (found.size() > 0) decode(found.row(0)[0], cutoff);
    });
    if (!cutoff) return;
    for (auto left = 4 * prune_every(schedule.options); left > 0 && !stop.stop_requested();) {
      auto const piece = std::min(left, prune_piece);
      std::int64_t gone = 0;
      // Once: a lock that is there now is so for longer than a node's thread should wait for it.
      core::transact(context_, {.name = "tick", .patience = std::chrono::milliseconds{0}},
                     [&](db::session& session) {
                       gone = db::run(session, context_.sql["tick.mark"],
                                      {name, *cutoff, failed, piece})
                                  .affected;
                       if (gone == 0) return core::decision::rollback;
                       db::run(session, context_.sql["tick.prune"], {name, *cutoff});
                       return core::decision::commit;
                     });
      if (gone < piece) break;
      left -= gone;
    }
  }
}

attended launcher::launch(definition const& schedule, decision const& decision) {
  auto const tick = *decision.launch;
  auto const text = text_of(tick);
  auto const from =
      base::left_out("tick_window") ? schedule.previous(tick).value() : schedule.window;
  tick_facts facts{schedule.name, tick, {from, tick}, false, 0, 0};
  auto const add = [&](db::session& session, tick_state state, std::string_view reason) {
    db::run(session, context_.sql["tick.add"],
            {std::string_view(schedule.name), us_of(tick), us_of(tick), std::int64_t{1},
             static_cast<std::int64_t>(state), us_of(from), std::int64_t{0}, std::string_view(text),
             reason});
  };
  auto got = starter_->start_with(process(schedule.name), key(text), {.once = true},
                                  [&](db::session& session) {
                                    if (!advance(session, schedule, decision)) return false;
                                    add(session, tick_state::running, {});
                                    return true;
                                  });
  if (!got) return {{}, true};
  if (*got) {
    auto out = hand_over(schedule, std::move(facts), std::move(*got).take(), false);
    out.decided = true;
    return out;
  }
  // Somebody has used this key by hand. One that is held is waited for.
  if (got->why() == start_refusal::running_elsewhere) return {};
  bool const done = got->why() == start_refusal::done_before;
  std::string_view const why =
      done ? "a run of this key had succeeded before" : "a run of this key is in the way";
  auto const decided = core::transact(context_, {.name = "tick"}, [&](db::session& session) {
    if (!advance(session, schedule, decision)) return core::decision::rollback;
    add(session, tick_state::running, {});
    write_end(session, context_, schedule.name, tick,
              {done ? tick_state::done : tick_state::failed, 0, {}}, why);
    return core::decision::commit;
  });
  if (decided == core::decision::commit && !done)
    context_.watch.tick_failed(event_of(schedule, text, why));
  return {{}, true};
}

attended launcher::try_again(definition const& schedule) {
  std::optional<tick_info> tick;
  std::string_view const name = schedule.name;
  core::read(context_, [&](db::session& session) {
    bool const paused = schedule.state != schedule_state::active;
    auto const found =
        db::run(session, context_.sql["tick.next_open"], {name, std::int64_t{paused ? 1 : 0}});
    tick.reset();
    if (found.size() > 0) tick = tick_of(found.row(0));
  });
  if (!tick) return {};
  auto const begin = [&](db::session& session) {
    return db::run(session, context_.sql["schedule.begin"],
                   {name, schedule.version, us_of(tick->at), std::string_view(tick->run)})
                   .affected == 1 &&
           db::run(session, context_.sql["tick.begin"], {name, us_of(tick->at)}).affected == 1;
  };
  auto got = starter_->start_with(process(schedule.name), key(tick->run), {.once = true}, begin);
  if (!got) return {{}, true};
  if (!*got) return refused(schedule, *tick, got->why(), begin);
  return hand_over(schedule, facts_of(schedule, *tick), std::move(*got).take(), false);
}

/// Another node may have been faster, and the tick may have failed since, or be tried again.
bool launcher::unchanged(db::session& session, definition const& schedule) const {
  return db::run(session, context_.sql["schedule.seen"],
                 {std::string_view(schedule.name), schedule.version})
             .affected == 1;
}

/// What runs, as it stands in its row; empty: nothing does any more, and that is said.
std::optional<tick_info> launcher::running(definition const& schedule) {
  auto tick = schedules::find(context_, schedule.name, *schedule.running);
  if (tick && tick->state == tick_state::running) return tick;
  core::transact(context_, {.name = "tick"}, [&](db::session& session) {
    if (!unchanged(session, schedule)) return core::decision::rollback;
    db::run(session, context_.sql["schedule.end"],
            {std::string_view(schedule.name), us_of(*schedule.running)});
    return core::decision::commit;
  });
  return std::nullopt;
}

attended launcher::end_failed(definition const& schedule) {
  auto const tick = running(schedule);
  if (!tick) return {{}, true};
  auto const facts = facts_of(schedule, *tick);
  auto const what = judge(run_state::failed, facts, schedule.options);
  std::string_view const why = "a process that took part in its run ended that as failed";
  auto const decided = core::transact(context_, {.name = "tick"}, [&](db::session& session) {
    if (!unchanged(session, schedule)) return core::decision::rollback;
    write_end(session, context_, schedule.name, tick->at, what, why);
    return core::decision::commit;
  });
  if (decided == core::decision::commit && what.state == tick_state::failed) {
    context_.watch.tick_failed(event_of(schedule, tick->run, why));
  }
  return {{}, true};
}

attended launcher::take_over(definition const& schedule) {
  // Nobody declares itself dead: a renewal that is late would still come through.
  auto const self = lease_->peek();
  if (schedule.its == standing::orphan && self && !self->dead() && self->uuid() == schedule.holder)
    return {};
  auto const tick = running(schedule);
  if (!tick) return {{}, true};
  auto const seen = [&](db::session& session) { return unchanged(session, schedule); };
  bool crashed = false;
  auto got = starter_->start_with(
      process(schedule.name), key(tick->run), {.once = true}, [&](db::session& session) {
        crashed = false;
        if (!unchanged(session, schedule)) return false;
        crashed =
            db::run(session, context_.sql["tick.crashed"],
                    {std::string_view(schedule.name), us_of(tick->at), std::string_view(tick->run)})
                .affected == 1;
        return true;
      });
  if (!got) return {{}, true};
  if (!*got) return refused(schedule, *tick, got->why(), seen);
  auto facts = facts_of(schedule, *tick);
  if (base::left_out("tick_take_over")) facts.window.from = schedule.window;
  if (crashed) ++facts.crashes;
  auto out = hand_over(schedule, std::move(facts), std::move(*got).take(), true);
  if (out.tick->facts.crashes < schedule.options.crash_limit) return out;
  auto const limit = std::to_string(schedule.options.crash_limit);
  static_cast<void>(std::move(out.tick->held).fail(limit + " nodes died while they did it"));
  return {{}, true};
}

attended launcher::refused(definition const& schedule, tick_info const& tick, start_refusal why,
                           core::runs::beside const& first) {
  if (why == start_refusal::running_elsewhere) return {};
  bool const done = why == start_refusal::done_before;
  std::string_view const text = done ? "a run of this key had succeeded before"
                                     : "the outcome of an at-most-once step is unknown";
  auto const decided = core::transact(context_, {.name = "tick"}, [&](db::session& session) {
    if (!first(session)) return core::decision::rollback;
    write_end(session, context_, schedule.name, tick.at,
              {done ? tick_state::done : tick_state::failed, tick.failures, {}}, text);
    return core::decision::commit;
  });
  if (decided == core::decision::commit && !done) {
    context_.watch.unknown(event_of(schedule, tick.run, text));
  }
  return {{}, true};
}

attended launcher::hand_over(definition const& schedule, tick_facts facts, run held,
                             bool taken_over) {
  auto const failed = std::make_shared<bool>(false);  // for the last time
  auto const write = [with = context_, facts, by = schedule.options, failed](
                         db::session& session, run_state state, std::string_view why) {
    *failed = false;
    // What is handed back is still its schedule's: whoever looks next goes on with it.
    if (state == run_state::interrupted) return;
    auto const what = judge(state, facts, by);
    write_end(session, with, facts.schedule, facts.at, what, why);
    *failed = what.state == tick_state::failed && state != run_state::unknown;
  };
  auto const after = [&watch = context_.watch, failed](run_event const& e) {
    if (*failed) watch.tick_failed(e);
  };
  held.internals().ends_with({write, after});
  return {launched{std::move(facts), std::move(held), taken_over}, false};
}

}  // namespace schedules
}  // namespace v1
}  // namespace daybook
