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
std::int64_t prune_every(schedule_options const& of) {
  return std::clamp<std::int64_t>(of.keep / 8, 32, 1024);
}

/// So many go in one transaction, so that no lock is held for long.
constexpr std::int64_t prune_piece = 100;

/// What failed waits for a person, and is kept for so many times as long.
constexpr std::int64_t patience_with_failed = 10;

/// Doubled after each failure, with a jitter of a tenth: those that failed together, of an outage
/// say, do not all come back at once.
microseconds delay_after(schedule_options const& of, int failures) {
  auto delay = microseconds(of.backoff);
  for (int i = 1; i < failures && delay < of.longest_backoff; ++i) delay *= 2;
  delay = std::min(delay, microseconds(of.longest_backoff));
  thread_local std::minstd_rand random{std::random_device{}()};
  auto const tenth = delay.count() / 10;
  return delay + microseconds(std::uniform_int_distribution<std::int64_t>(0, tenth)(random));
}

tick_facts facts_of(definition const& of, tick_info const& tick) {
  return {of.name, tick.at, tick.window, tick.by_hand, tick.failures, tick.crashes};
}

/// What the end of a run means for its tick.
struct verdict {
  tick_state state = tick_state::done;
  int failures = 0;
  microseconds delay{0};
};

verdict judge(run_state ended, tick_facts const& facts, schedule_options const& by) {
  switch (ended) {
    case run_state::succeeded: return {tick_state::done, facts.failures, {}};
    case run_state::unknown: return {tick_state::failed, facts.failures, {}};
    default: break;
  }
  int const failures = facts.failures + 1;
  if (failures >= by.attempts || facts.crashes >= by.crash_limit) {
    return {tick_state::failed, failures, {}};
  }
  return {tick_state::due, failures, delay_after(by, failures)};
}

void write_end(db::session& on, core::context const& with, std::string const& schedule,
               timestamp tick, verdict const& what, std::string_view why) {
  std::string_view const name = schedule;
  db::run(on, with.sql["tick.end"],
          {name, us_of(tick), static_cast<std::int64_t>(what.state), std::int64_t{what.failures},
           std::int64_t{what.delay.count()}, why});
  db::run(on, with.sql["schedule.end"], {name, us_of(tick)});
}

run_event event_of(definition const& of, std::string const& tick, std::string_view why) {
  return {of.name, tick, {}, 0, 0, why};
}

}  // namespace

attended launcher::attend(definition const& of) {
  // Before anything is taken: who cannot tell when its ticks come would only drop it again.
  if (!of.can_be_told()) static_cast<void>(zone(of.options.zone));
  if (of.its == standing::free || of.its == standing::orphan) return take_over(of);
  if (of.its == standing::failed) return end_failed(of);
  if (of.state == schedule_state::removed) return {};
  auto const what = decide(of, of.now);
  bool const open = !of.running && of.open_due && *of.open_due <= of.now;
  // In the order of their times: else work that takes longer than from tick to tick would never be
  // tried again.
  if (open && (what.nothing() || *of.open_due < *of.next(of.decided))) return try_again(of);
  if (what.launch) return launch(of, what);
  if (!what.skip) return {};
  return {{}, true, skip(of, *what.skip)};
}

bool launcher::advance(db::session& on, definition const& of, decision const& what) const {
  std::optional<std::int64_t> launch;
  std::string key;
  if (what.launch) {
    launch = us_of(*what.launch);
    key = text_of(*what.launch);
  }
  if (db::run(on, with_.sql["schedule.advance"],
              {std::string_view(of.name), of.version, us_of(what.until()), to_value(launch),
               std::string_view(key)})
          .affected == 0) {
    return false;
  }
  if (what.skip) write_skipped(on, with_, of, *what.skip);
  return true;
}

/// False: who looks next sees what became of it.
bool launcher::skip(definition const& of, skipped const& what) {
  try {
    return core::transact(with_, {.name = "tick"}, [&](db::session& on) {
             return advance(on, of, {what, {}}) ? core::decision::commit : core::decision::rollback;
           }) == core::decision::commit;
  } catch (core::lost_reply const&) {
    return false;
  }
}

void launcher::prune(definition const& of, std::stop_token const& stop) {
  auto const every = prune_every(of.options);
  try {
    {
      std::lock_guard const lock(guard_);
      if (of.decisions % every != every - 1 && !owed_.contains(of.name)) return;
      owed_.insert(of.name);
    }
    prune_pieces(of, stop);
    std::lock_guard const lock(guard_);
    owed_.erase(of.name);
  } catch (std::exception const& e) {
    with_.watch.retried("prune", "schedule '" + of.name +
                                     "': its old ticks stay until its next launch: " + e.what());
  }
}

/// A piece at a time, and in all more than came since the last time. Without the schedule's row:
/// what is changed meanwhile is no more what may go, and stays.
void launcher::prune_pieces(definition const& of, std::stop_token const& stop) const {
  std::string_view const name = of.name;
  for (std::int64_t const failed : {0, 1}) {
    auto const keep = std::int64_t{of.options.keep} * (failed == 1 ? patience_with_failed : 1);
    std::optional<std::int64_t> cutoff;
    core::read(with_, [&](db::session& on) {
      cutoff.reset();
      auto const found = db::run(on, with_.sql["tick.cutoff"], {name, keep});
      if (found.size() > 0) decode(found.row(0)[0], cutoff);
    });
    if (!cutoff) return;
    for (auto left = 4 * prune_every(of.options); left > 0 && !stop.stop_requested();) {
      auto const piece = std::min(left, prune_piece);
      std::int64_t gone = 0;
      // Once: a lock that is there now is so for longer than a node's thread should wait for it.
      core::transact(
          with_, {.name = "tick", .patience = std::chrono::milliseconds{0}}, [&](db::session& on) {
            gone = db::run(on, with_.sql["tick.mark"], {name, *cutoff, failed, piece}).affected;
            if (gone == 0) return core::decision::rollback;
            db::run(on, with_.sql["tick.prune"], {name, *cutoff});
            return core::decision::commit;
          });
      if (gone < piece) break;
      left -= gone;
    }
  }
}

attended launcher::launch(definition const& of, decision const& what) {
  auto const tick = *what.launch;
  auto const text = text_of(tick);
  auto const from = base::left_out("tick_window") ? of.previous(tick).value() : of.window;
  tick_facts facts{of.name, tick, {from, tick}, false, 0, 0};
  auto const add = [&](db::session& on, tick_state state, std::string_view reason) {
    db::run(on, with_.sql["tick.add"],
            {std::string_view(of.name), us_of(tick), us_of(tick), std::int64_t{1},
             static_cast<std::int64_t>(state), us_of(from), std::int64_t{0}, std::string_view(text),
             reason});
  };
  auto got =
      starter_->start_with(process(of.name), key(text), {.once = true}, [&](db::session& on) {
        if (!advance(on, of, what)) return false;
        add(on, tick_state::running, {});
        return true;
      });
  if (!got) return {{}, true};
  if (*got) {
    auto out = hand_over(of, std::move(facts), std::move(*got).take(), false);
    out.decided = true;
    return out;
  }
  // Somebody has used this key by hand. One that is held is waited for.
  if (got->why() == start_refusal::running_elsewhere) return {};
  bool const done = got->why() == start_refusal::done_before;
  std::string_view const why =
      done ? "a run of this key had succeeded before" : "a run of this key is in the way";
  auto const decided = core::transact(with_, {.name = "tick"}, [&](db::session& on) {
    if (!advance(on, of, what)) return core::decision::rollback;
    add(on, tick_state::running, {});
    write_end(on, with_, of.name, tick, {done ? tick_state::done : tick_state::failed, 0, {}}, why);
    return core::decision::commit;
  });
  if (decided == core::decision::commit && !done) with_.watch.tick_failed(event_of(of, text, why));
  return {{}, true};
}

attended launcher::try_again(definition const& of) {
  std::optional<tick_info> tick;
  std::string_view const name = of.name;
  core::read(with_, [&](db::session& on) {
    bool const paused = of.state != schedule_state::active;
    auto const found =
        db::run(on, with_.sql["tick.next_open"], {name, std::int64_t{paused ? 1 : 0}});
    tick.reset();
    if (found.size() > 0) tick = tick_of(found.row(0));
  });
  if (!tick) return {};
  auto const begin = [&](db::session& on) {
    return db::run(on, with_.sql["schedule.begin"],
                   {name, of.version, us_of(tick->at), std::string_view(tick->run)})
                   .affected == 1 &&
           db::run(on, with_.sql["tick.begin"], {name, us_of(tick->at)}).affected == 1;
  };
  auto got = starter_->start_with(process(of.name), key(tick->run), {.once = true}, begin);
  if (!got) return {{}, true};
  if (!*got) return refused(of, *tick, got->why(), begin);
  return hand_over(of, facts_of(of, *tick), std::move(*got).take(), false);
}

/// Another node may have been faster, and the tick may have failed since, or be tried again.
bool launcher::unchanged(db::session& on, definition const& of) const {
  return db::run(on, with_.sql["schedule.seen"], {std::string_view(of.name), of.version})
             .affected == 1;
}

/// What runs, as it stands in its row; empty: nothing does any more, and that is said.
std::optional<tick_info> launcher::running(definition const& of) {
  auto tick = schedules::find(with_, of.name, *of.running);
  if (tick && tick->state == tick_state::running) return tick;
  core::transact(with_, {.name = "tick"}, [&](db::session& on) {
    if (!unchanged(on, of)) return core::decision::rollback;
    db::run(on, with_.sql["schedule.end"], {std::string_view(of.name), us_of(*of.running)});
    return core::decision::commit;
  });
  return std::nullopt;
}

attended launcher::end_failed(definition const& of) {
  auto const tick = running(of);
  if (!tick) return {{}, true};
  auto const facts = facts_of(of, *tick);
  auto const what = judge(run_state::failed, facts, of.options);
  std::string_view const why = "a process that took part in its run ended that as failed";
  auto const decided = core::transact(with_, {.name = "tick"}, [&](db::session& on) {
    if (!unchanged(on, of)) return core::decision::rollback;
    write_end(on, with_, of.name, tick->at, what, why);
    return core::decision::commit;
  });
  if (decided == core::decision::commit && what.state == tick_state::failed) {
    with_.watch.tick_failed(event_of(of, tick->run, why));
  }
  return {{}, true};
}

attended launcher::take_over(definition const& of) {
  // Nobody declares itself dead: a renewal that is late would still come through.
  auto const self = lease_->peek();
  if (of.its == standing::orphan && self && !self->dead() && self->uuid() == of.holder) return {};
  auto const tick = running(of);
  if (!tick) return {{}, true};
  auto const seen = [&](db::session& on) { return unchanged(on, of); };
  bool crashed = false;
  auto got =
      starter_->start_with(process(of.name), key(tick->run), {.once = true}, [&](db::session& on) {
        crashed = false;
        if (!unchanged(on, of)) return false;
        crashed = db::run(on, with_.sql["tick.crashed"],
                          {std::string_view(of.name), us_of(tick->at), std::string_view(tick->run)})
                      .affected == 1;
        return true;
      });
  if (!got) return {{}, true};
  if (!*got) return refused(of, *tick, got->why(), seen);
  auto facts = facts_of(of, *tick);
  if (base::left_out("tick_take_over")) facts.window.from = of.window;
  if (crashed) ++facts.crashes;
  auto out = hand_over(of, std::move(facts), std::move(*got).take(), true);
  if (out.tick->facts.crashes < of.options.crash_limit) return out;
  auto const limit = std::to_string(of.options.crash_limit);
  static_cast<void>(std::move(out.tick->held).fail(limit + " nodes died while they did it"));
  return {{}, true};
}

attended launcher::refused(definition const& of, tick_info const& tick, start_refusal why,
                           core::runs::beside const& first) {
  if (why == start_refusal::running_elsewhere) return {};
  bool const done = why == start_refusal::done_before;
  std::string_view const text = done ? "a run of this key had succeeded before"
                                     : "the outcome of an at-most-once step is unknown";
  auto const decided = core::transact(with_, {.name = "tick"}, [&](db::session& on) {
    if (!first(on)) return core::decision::rollback;
    write_end(on, with_, of.name, tick.at,
              {done ? tick_state::done : tick_state::failed, tick.failures, {}}, text);
    return core::decision::commit;
  });
  if (decided == core::decision::commit && !done) {
    with_.watch.unknown(event_of(of, tick.run, text));
  }
  return {{}, true};
}

attended launcher::hand_over(definition const& of, tick_facts facts, run held, bool taken_over) {
  auto const failed = std::make_shared<bool>(false);  // for the last time
  auto const write = [with = with_, facts, by = of.options, failed](
                         db::session& on, run_state state, std::string_view why) {
    *failed = false;
    // What is handed back is still its schedule's: whoever looks next goes on with it.
    if (state == run_state::interrupted) return;
    auto const what = judge(state, facts, by);
    write_end(on, with, facts.schedule, facts.at, what, why);
    *failed = what.state == tick_state::failed && state != run_state::unknown;
  };
  auto const after = [&watch = with_.watch, failed](run_event const& e) {
    if (*failed) watch.tick_failed(e);
  };
  held.internals().ends_with({write, after});
  return {launched{std::move(facts), std::move(held), taken_over}, false};
}

}  // namespace schedules
}  // namespace v1
}  // namespace daybook
