#include "core/run.hpp"

#include "base/digest.hpp"
#include "base/failpoint.hpp"
#include "base/text.hpp"
#include "base/uuid.hpp"
#include "core/token.hpp"
#include "core/transact.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

constexpr std::size_t longest_error = 2000;
constexpr std::size_t longest_value = 1 << 20;

/// What every engine can store, and read back to the same bytes.
void check_value(std::string_view step, std::string const& what) {
  auto const bad = [&](char const* why) {
    throw error({.kind = fault::bad_argument},
                "step '" + std::string(step) + "' returned a text " + why);
  };
  if (what.size() > longest_value) bad("of more than 1 MiB: keep it in a table of yours");
  if (what.find('\0') != std::string::npos) bad("with a zero byte: encode it first");
  if (base::first_invalid_utf8(what) != std::string::npos) {
    bad("that is not valid UTF-8: encode it first");
  }
}

/// Whether the fence held: exactly one row.
bool fenced(db::session& on, db::entry const& statement, std::initializer_list<value> values) {
  return db::run(on, statement, values).affected == 1;
}

}  // namespace

held_run::held_run(context const& with, core::holder& lease, std::shared_ptr<incarnation> who,
                   run_identity identity, acquisition held)
    : with_(with),
      lease_(&lease),
      who_(std::move(who)),
      hand_(std::make_shared<in_hand>()),
      identity_(std::move(identity)),
      held_(std::move(held)) {
  hand_->process = identity_.process.str();
  hand_->key = identity_.key.str();
  if (who_) who_->add(hand_);
}

held_run::~held_run() {
  if (with_.forked()) return;
  if (open_ && who_ && !lost_) let_go("let go without an end");
  if (who_) who_->remove(hand_);
}

/// Not for long, for an exception may be on its way: what this does not settle the background does.
void held_run::let_go(std::string_view why) noexcept {
  constexpr std::chrono::milliseconds brief = std::chrono::seconds{2};
  try {
    auto const decided = transact(with_, {.name = "end", .patience = brief}, [&](db::session& on) {
      return write_end(on, run_state::interrupted, why) ? decision::commit : decision::rollback;
    });
    if (decided == decision::commit) with_.watch.released(event({}, why));
    return;
  } catch (...) {
    disown();
  }
  try {
    lease_->disown_orphans(*with_.sessions.lend(brief));
  } catch (...) {
    with_.watch.lost(event({}, "could not be handed back yet"));
  }
}

run_event held_run::event(std::string_view step, std::string_view text) const {
  return {identity_.process.str(), identity_.key.str(), step,
          identity_.number,        identity_.attempt,   text};
}

transact_options held_run::insist(std::string_view name, isolation level) const {
  return {.name = name,
          .level = level,
          .patience = with_.lease,
          .when_unreachable = unreachable::keep_trying};
}

bool held_run::done(std::string_view name) const {
  return done_before_.contains(std::string(name)) || done_now_.contains(name);
}

void held_run::mark_lost() {
  lost_ = true;
  hand_->lost.request_stop();
  with_.watch.lost(event());
}

bool held_run::renew_with(db::session& on) const {
  return who_ && with_.dialect.one_writer && lease_->renew_within(on, *who_);
}

void held_run::begin_step(std::string_view name) {
  with_.check_process();
  check_name("step name", name);
  if (!open_) {
    throw error({.kind = fault::bad_argument}, "step '" + std::string(name) + "' of " +
                                                   identity_.process.str() +
                                                   " after the run was ended");
  }
  if (!used_.emplace(name).second) {
    throw error({.kind = fault::bad_argument},
                "step '" + std::string(name) + "' of " + identity_.process.str() +
                    " was given twice in one attempt: every step needs a name of its own");
  }
}

outcome held_run::step(std::string_view name, step_options options, body const& work,
                       std::string& value) {
  struct between_steps {
    held_run& of;
    ~between_steps() {
      if (of.who_) of.who_->set_step(*of.hand_, {});
    }
  } const afterwards{*this};
  return once(name, value, [&] { return try_step(name, options, work, value); });
}

outcome held_run::record(std::string_view name) {
  std::string value;
  return once(name, value, [&] { return try_record(name); });
}

template <class Try>
outcome held_run::once(std::string_view name, std::string& value, Try const& attempt) {
  begin_step(name);
  if (lost_) return outcome::lost;
  if (auto const before = done_before_.find(std::string(name)); before != done_before_.end()) {
    value = before->second;
    return outcome::skipped;
  }
  auto what = outcome::lost;
  try {
    what = attempt();
  } catch (...) {
    // Nothing of it is there: it may be tried again in this attempt.
    if (!lost_) used_.erase(std::string(name));
    throw;
  }
  if (what == outcome::lost) {
    mark_lost();
  } else {
    done_now_.emplace(name);
    with_.watch.step_done(event(name));
  }
  return what;
}

outcome held_run::try_step(std::string_view name, step_options options, body const& work,
                           std::string& value) {
  for (;;) {
    std::optional<outcome> before;
    bool renewed = false;
    auto const sent = base::boot_clock::now();
    try {
      auto const decided = transact(with_, insist("step", options.level), [&](db::session& on) {
        if (!who_) before = done_by_us(on, name, value);
        if (before) return decision::rollback;
        return do_step(on, name, options, work, value, renewed);
      });
      if (before) return *before;
      if (decided == decision::rollback) return outcome::lost;
      if (renewed) who_->renewed(sent);
      return outcome::done;
    } catch (lost_reply const&) {
      if (!who_) continue;  // the next try looks for the record of this one
    }
    switch (resolve_step(name, value)) {
      case fate::had_committed: return outcome::done;
      case fate::lost: return outcome::lost;
      case fate::never_will: break;  // the whole transaction again, under the new epoch
    }
  }
}

decision held_run::do_step(db::session& on, std::string_view name, step_options options,
                           body const& work, std::string& value, bool& renewed) {
  auto const& process = identity_.process.str();
  auto const& key = identity_.key.str();
  if (options.fence == fence_position::first &&
      !fenced(on, with_.sql["run.fence"], {process, key, held_.epoch, held_.uuid})) {
    return decision::rollback;
  }
  if (who_) who_->set_step(*hand_, name);
  transaction tx(on, with_.user_sql);
  value = work(tx);
  check_value(name, value);
  if (base::hit_failpoint("step.effect_done")) on.cut();
  // What is written now is seen when the step is done.
  if (who_) who_->set_step(*hand_, {});
  renewed = renew_with(on);
  bool const held = fenced(on, with_.sql["run.step"],
                           {process, key, held_.epoch, held_.uuid, name, std::string_view(value)});
  return held ? decision::commit : decision::rollback;
}

/// A run that another process holds: its fence is not ours to advance, so that after a lost reply
/// the same guarded transaction is run again, which is harmless when it looks for its own record
/// first. The fence comes before the look: it waits for the lost transaction.
std::optional<outcome> held_run::done_by_us(db::session& on, std::string_view name,
                                            std::string& value) const {
  auto const& process = identity_.process.str();
  auto const& key = identity_.key.str();
  bool const held = fenced(on, with_.sql["run.fence"], {process, key, held_.epoch, held_.uuid});
  auto const found =
      db::run(on, with_.sql["run.step_recorded"], {process, key, identity_.number, name});
  if (found.size() == 0) return std::nullopt;
  std::string by;
  decode(found.row(0)[0], by);
  decode(found.row(0)[1], value);
  // Where it is the heir's record, the run was lost.
  return by == held_.uuid || held ? outcome::done : outcome::lost;
}

/// After a lost COMMIT reply a read is not enough: the old transaction may commit after we
/// looked. So the fence goes on by one, in one transaction with the reading: the old one is then
/// either visible or can never commit. When this COMMIT's reply is lost too, any of the
/// acquisitions so far may be on the row.
template <class Evidence>
held_run::fate held_run::resolve(std::string_view transaction_name, Evidence const& evidence) {
  std::vector<acquisition> candidates{held_};
  for (;;) {
    acquisition fresh{0, base::new_uuid()};
    fate found = fate::lost;
    try {
      transact(with_, insist("resolve"), [&](db::session& on) {
        found = fate::lost;
        fresh.epoch = 0;  // of a try that was rolled back
        for (auto const& old : candidates) {
          if (fenced(on, with_.sql["run.advance"],
                     {identity_.process.str(), identity_.key.str(), old.epoch, old.uuid,
                      std::string_view(fresh.uuid)})) {
            fresh.epoch = old.epoch + 1;
            found = fate::never_will;
            break;
          }
        }
        if (evidence(on, candidates, found)) found = fate::had_committed;
        return decision::commit;
      });
    } catch (lost_reply const&) {
      if (fresh.epoch != 0) candidates.push_back(fresh);
      continue;
    } catch (...) {
      if (fresh.epoch != 0) candidates.push_back(fresh);
      // Nobody can say any more what is held: the background lets go of all that may be.
      lost_ = true;
      for (auto const& one : candidates) {
        lease_->add_orphan({identity_.process.str(), identity_.key.str(), one.uuid});
      }
      throw;
    }
    if (fresh.epoch != 0) held_ = fresh;
    with_.watch.doubt_resolved(transaction_name, found == fate::had_committed);
    return found;
  }
}

held_run::fate held_run::resolve_step(std::string_view name, std::string& value) {
  return resolve(
      "step", [&](db::session& on, std::vector<acquisition> const& candidates, fate advanced) {
        if (advanced == fate::lost) return false;
        auto const recorded =
            db::run(on, with_.sql["run.step_recorded"],
                    {identity_.process.str(), identity_.key.str(), identity_.number, name});
        if (recorded.size() == 0) return false;
        std::string by;
        decode(recorded.row(0)[0], by);
        decode(recorded.row(0)[1], value);
        return std::any_of(candidates.begin(), candidates.end(),
                           [&](acquisition const& one) { return one.uuid == by; });
      });
}

held_run::fate held_run::resolve_end(run_state state) {
  return resolve("end", [&](db::session& on, std::vector<acquisition> const& candidates, fate) {
    // An ended run does not advance: its attempt in the history is the evidence, also when
    // somebody has started it afresh since.
    return std::any_of(candidates.begin(), candidates.end(),
                       [&](acquisition const& one) { return end_recorded(on, one, state); });
  });
}

outcome held_run::try_record(std::string_view name) {
  for (;;) {
    std::optional<outcome> before;
    try {
      auto const decided = transact(with_, insist("record"), [&](db::session& on) {
        std::string unused;
        before = done_by_us(on, name, unused);
        if (before) return decision::rollback;
        bool const held = fenced(
            on, with_.sql["run.step"],
            {identity_.process.str(), identity_.key.str(), held_.epoch, held_.uuid, name, ""});
        return held ? decision::commit : decision::rollback;
      });
      if (before) return *before;
      return decided == decision::commit ? outcome::done : outcome::lost;
    } catch (lost_reply const&) {
      continue;  // the next try looks for the record of this one
    }
  }
}

bool held_run::end(run_state state, std::string_view why) {
  with_.check_process();
  bool const was_open = std::exchange(open_, false);
  if (!was_open || lost_) return false;
  auto const text = base::bounded(why, longest_error);
  bool held = false;
  try {
    held = try_end(state, text);
  } catch (...) {
    disown();
    throw;
  }
  if (!held) {
    mark_lost();
  } else if (state == run_state::succeeded) {
    with_.watch.finished(event());
  } else if (state == run_state::failed) {
    with_.watch.failed(event({}, text));
  } else {
    with_.watch.released(event({}, text));
  }
  return held;
}

/// While this holder lives the run would be nobody else's: the background lets go of it.
void held_run::disown() {
  if (who_) lease_->add_orphan({identity_.process.str(), identity_.key.str(), held_.uuid});
}

bool held_run::try_end(run_state state, std::string_view why) {
  for (;;) {
    try {
      bool before = false;
      auto const decided = transact(with_, insist("end"), [&](db::session& on) {
        if (write_end(on, state, why)) return decision::commit;
        // Another process's fence is not ours to advance: see done_by_us().
        before = !who_ && end_recorded(on, held_, state);
        return decision::rollback;
      });
      return before || decided == decision::commit;
    } catch (lost_reply const&) {
      if (!who_) continue;
    }
    auto const what = resolve_end(state);
    if (what != fate::never_will) return what == fate::had_committed;
  }
}

bool held_run::write_end(db::session& on, run_state state, std::string_view why) const {
  return fenced(on, with_.sql["run.end"],
                {identity_.process.str(), identity_.key.str(), held_.epoch, held_.uuid,
                 std::int64_t{static_cast<int>(state)}, why});
}

/// Whether the history says that this acquisition ended so. One that a take-over wrote says
/// "interrupted".
bool held_run::end_recorded(db::session& on, acquisition const& by, run_state state) const {
  auto const found = db::run(on, with_.sql["run.end_recorded"],
                             {identity_.process.str(), identity_.key.str(), by.epoch, by.uuid});
  if (found.size() == 0) return false;
  std::int64_t recorded = 0;
  decode(found.row(0)[0], recorded);
  return recorded == static_cast<int>(state);
}

std::string held_run::token() const { return write_token(identity_, held_); }

std::string held_run::idempotency_key(std::string_view step) const {
  return base::digest({with_.book_id, identity_.process.str(), identity_.key.str(),
                       std::to_string(identity_.number), step});
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
