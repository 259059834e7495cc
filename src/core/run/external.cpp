// Steps outside the database: at least once, and at most once.
#include "base/failpoint.hpp"
#include "base/uuid.hpp"
#include "core/run/run.hpp"

#include <daybook/error.hpp>

#include <exception>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace core {

effect held_run::effect_of(std::string_view name) const {
  return {idempotency_key(name), identity_.attempt, stop()};
}

/// After two thirds of a lease without a renewal nothing new is begun outside: somebody may take
/// the run over before it is done. False: it is lost already.
bool held_run::lease_is_good() {
  if (!holder_) {
    bool good = true;
    read(context_, context_.lease / 3, [&](db::session& session) {
      good = db::run(session, context_.sql["run.held"],
                     {process(), key(), held_.epoch, held_.uuid, held_.seen})
                 .size() == 1;
    });
    return good;
  }
  if (holder_->dead()) return false;
  if (holder_->since_renewal() < context_.lease * 2 / 3) return true;
  for (;;) {
    try {
      bool good = true;
      read(context_, context_.lease / 3, [&](db::session& session) {
        good = lease_->peek() == holder_ && lease_->renew(session) == renewal::renewed;
      });
      return good;
    } catch (lost_reply const&) {
      // Nothing was begun outside: in doubt is a renewal, of which another does no harm.
      if (holder_->dead()) return false;
    }
  }
}

template <class F>
std::string held_run::in_hand_while(std::string_view name, F const& work) {
  struct shown {
    held_run& of;
    shown(held_run& run, std::string_view step) : of(run) {
      if (of.holder_) of.holder_->set_step(*of.hand_, step);
    }
    ~shown() {
      if (of.holder_) of.holder_->set_step(*of.hand_, {});
    }
  } const meanwhile{*this, name};
  auto value = work();
  check_text("step '" + std::string(name) + "' returned a text", value);
  static_cast<void>(base::hit_failpoint("effect.done"));
  return value;
}

outcome held_run::at_least_once(std::string_view name, act const& work, std::string& value) {
  auto const attempt = [&] {
    if (!lease_is_good()) return outcome::lost;
    auto const began = base::boot_clock::now();
    auto const with = effect_of(name);
    value = in_hand_while(name, [&] { return work(with); });
    return try_record({name, step_mode::at_least_once, since(began)}, value);
  };
  return once(name, step_mode::at_least_once, value, attempt);
}

outcome held_run::at_most_once(std::string_view name, act const& work, probe const& look,
                               std::string& value) {
  auto const attempt = [&] {
    if (!lease_is_good()) return outcome::lost;
    auto const with = effect_of(name);
    if (memory_.intents.contains(name)) {
      auto const before = settle_intent(with, look, name, value, "nobody recorded how it ended");
      if (before != outcome::skipped) return before;
    }
    auto const intended = intend_in_time(name);
    if (intended != outcome::done) return intended;
    return act_at_most_once(with, work, look, name, value);
  };
  return once(name, step_mode::at_most_once, value, attempt);
}

/// What became of an intent that an earlier attempt (or try) left. skipped: nothing, do it now.
outcome held_run::settle_intent(effect const& effect, probe const& look, std::string_view name,
                                std::string& value, std::string_view why) {
  auto const seen = look(effect);
  switch (seen.what) {
    case outcome::done:
      value = seen.value;
      return try_record({name, step_mode::at_most_once, {}}, value);
    case outcome::lost: {
      auto const gone = try_abandon(name);
      return gone == outcome::done ? outcome::skipped : gone;
    }
    case outcome::skipped:
    case outcome::unknown: break;
  }
  return leave_unknown(name, why);
}

outcome held_run::act_at_most_once(effect const& effect, act const& work, probe const& look,
                                   std::string_view name, std::string& value) {
  auto const began = base::boot_clock::now();
  try {
    value = in_hand_while(name, [&] { return work(effect); });
  } catch (not_done const&) {
    if (try_abandon(name) == outcome::lost) settle_lost();
    throw;
  } catch (std::exception const& e) {
    if (settle_after(e.what(), effect, look, name, value)) return outcome::done;
    throw;
  }
  return try_record({name, step_mode::at_most_once, since(began)}, value);
}

/// A body that threw anything else may have done it. False: nobody has found out that it had.
bool held_run::settle_after(std::string_view subject, effect const& effect, probe const& look,
                            std::string_view name, std::string& value) {
  try {
    auto const seen = settle_intent(effect, look, name, value, subject);
    if (seen == outcome::lost) settle_lost();
    return seen == outcome::done;
  } catch (std::exception const&) {
    return false;  // the intent stays: the next attempt asks again
  }
}

outcome held_run::intend(std::string_view name) {
  settle_pending();
  if (!begin_step(name, step_mode::at_most_once)) return outcome::lost;
  if (memory_.steps.contains(name)) return outcome::skipped;
  auto what = outcome::lost;
  try {
    what = memory_.intents.contains(name) ? outcome::unknown : intend_in_time(name);
    if (what == outcome::unknown && !mark_unknown(name)) what = outcome::lost;
  } catch (...) {
    used_.erase(std::string(name));
    throw;
  }
  if (what == outcome::lost) settle_lost();
  if (what == outcome::done) intended_.emplace(name);
  return what;
}

outcome held_run::abandon(std::string_view name) {
  context_.check_process();
  check_turn();
  settle_pending();
  if (lost_ || !open_) return outcome::lost;
  if (!memory_.intents.contains(name)) {
    throw error({.kind = error_code::bad_argument},
                "step '" + std::string(name) + "' of " + process() + " was never intended");
  }
  auto const what = try_abandon(name);
  if (what == outcome::lost) settle_lost();
  if (what == outcome::done) {
    intended_.erase(std::string(name));
    used_.erase(std::string(name));
  }
  return what;
}

/// Whose intent it is; empty: there is none.
std::string held_run::intent_token(db::session& session, std::string_view name) const {
  auto const found = db::run(session, context_.sql["run.intent_recorded"],
                             {process(), key(), identity_.number, name});
  std::string token;
  if (found.size() > 0) decode(found.row(0)[0], token);
  return token;
}

outcome held_run::try_intend(std::string_view name) {
  auto const mine = base::new_uuid();  // several processes may have this attempt's token
  for (;;) {
    std::string theirs;
    try {
      auto const decided =
          transact(context_, for_a_lease(context_, "intend"), [&](db::session& session) {
            theirs.clear();
            next_stamp();
            if (!holder_) {
              // Another process's fence is not ours to advance: see done_by_us().
              if (!fenced(session, context_.sql["run.fence"],
                          {process(), key(), held_.epoch, held_.uuid, held_.seen, stamp_})) {
                return decision::rollback;
              }
              theirs = intent_token(session, name);
              if (!theirs.empty()) return decision::commit;
            }
            if (!had_in_time(session)) return decision::rollback;
            return fenced(
                       session, context_.sql["run.intend"],
                       {process(), key(), held_.epoch, held_.uuid, held_.seen, stamp_, name, mine})
                       ? decision::commit
                       : decision::rollback;
          });
      if (decided == decision::commit) wrote();
      if (!theirs.empty() && theirs != mine) return outcome::unknown;
      if (decided == decision::rollback) return outcome::lost;
      break;
    } catch (lost_reply const&) {
      if (!holder_) continue;
    }
    auto const what = resolve_intent(name, mine);
    if (what == fate::lost) return outcome::lost;
    if (what == fate::had_committed) break;
  }
  memory_.intents.emplace(name);
  return outcome::done;
}

/// A probe, and the intent itself, may take longer than a lease. An intent that comes too late is
/// given up, for nothing was begun.
outcome held_run::intend_in_time(std::string_view name) {
  auto const intended = try_intend(name);
  if (intended != outcome::done || lease_is_good()) return intended;
  static_cast<void>(try_abandon(name));
  return outcome::lost;
}

outcome held_run::try_abandon(std::string_view name) {
  for (;;) {
    try {
      bool gone = false;
      auto const decided =
          transact(context_, for_a_lease(context_, "abandon"), [&](db::session& session) {
            gone = false;
            next_stamp();
            // The fence comes first: it waits for a transaction of ours whose reply was lost.
            if (!fenced(session, context_.sql["run.abandon"],
                        {process(), key(), held_.epoch, held_.uuid, held_.seen, stamp_})) {
              return decision::rollback;
            }
            gone = !fenced(session, context_.sql["run.forget_intent"],
                           {process(), key(), identity_.number, name});
            return gone ? decision::rollback : decision::commit;
          });
      if (!gone && decided == decision::rollback) return outcome::lost;
      if (decided == decision::commit) wrote();
      break;
    } catch (lost_reply const&) {
      if (!holder_) continue;  // the next try finds it gone
    }
    auto const what = resolve_intent(name, {});
    if (what == fate::lost) return outcome::lost;
    if (what == fate::had_committed) break;
  }
  memory_.intents.erase(std::string(name));
  return outcome::done;
}

/// From now on this run can only end as unknown. False: it was lost.
bool held_run::mark_unknown(std::string_view name) {
  for (;;) {
    try {
      auto const decided =
          transact(context_, for_a_lease(context_, "unknown"), [&](db::session& session) {
            next_stamp();
            if (!fenced(session, context_.sql["run.know_unknown"],
                        {process(), key(), held_.epoch, held_.uuid, held_.seen, stamp_})) {
              return decision::rollback;
            }
            db::run(session, context_.sql["run.intent_unknown"],
                    {process(), key(), identity_.number, name});
            return decision::commit;
          });
      return wrote(decided == decision::commit) == outcome::done;
    } catch (lost_reply const&) {
      continue;  // marking it twice is harmless
    }
  }
}

/// Ends the attempt: a person decides.
outcome held_run::leave_unknown(std::string_view name, std::string_view why) {
  auto const text =
      "the outcome of step '" + std::string(name) + "' is unknown: " + std::string(why);
  if (!mark_unknown(name)) return outcome::lost;
  return end(run_state::unknown, text) == outcome::lost ? outcome::lost : outcome::unknown;
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
