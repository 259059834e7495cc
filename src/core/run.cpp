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
  if (open_ && who_ && !lost_) {
    try {
      end(run_state::interrupted, "let go without an end");
    } catch (...) {
      lease_->add_orphan({identity_.process.str(), identity_.key.str(), held_.uuid});
      with_.watch.lost(event({}, "could not be handed back"));
    }
  }
  if (who_) who_->remove(hand_);
}

run_event held_run::event(std::string_view step, std::string_view text) const {
  return {identity_.process.str(), identity_.key.str(), step, identity_.number, identity_.attempt,
          text};
}

std::chrono::milliseconds held_run::patience() const { return with_.lease; }

bool held_run::done(std::string_view name) const {
  return done_before_.contains(std::string(name)) || used_.contains(name);
}

void held_run::mark_lost() {
  lost_ = true;
  hand_->lost.request_stop();
  with_.watch.lost(event());
}

bool held_run::fenced(db::session& on, db::entry const& statement,
                      std::initializer_list<value> values) const {
  return db::run(on, statement, values).affected == 1;
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
  begin_step(name);
  if (lost_) return outcome::lost;
  if (auto const before = done_before_.find(std::string(name)); before != done_before_.end()) {
    value = before->second;
    return outcome::skipped;
  }
  if (who_) who_->set_step(*hand_, name);
  auto const what = try_step(name, options, work, value);
  if (who_) who_->set_step(*hand_, {});
  if (what == outcome::lost) {
    mark_lost();
  } else {
    with_.watch.step_done(event(name));
  }
  return what;
}

outcome held_run::try_step(std::string_view name, step_options options, body const& work,
                           std::string& value) {
  for (;;) {
    bool renewed = false;
    auto const sent = base::boot_clock::now();
    auto const attempt = [&](db::session& on) {
      auto const& run_row = with_.sql;
      if (options.fence == fence_position::first &&
          !fenced(on, run_row["run.fence"],
                  {identity_.process.str(), identity_.key.str(), held_.epoch, held_.uuid})) {
        return decision::rollback;
      }
      transaction tx(on, with_.user_sql);
      value = work(tx);
      if (base::hit_failpoint("step.effect_done")) on.cut();
      renewed = renew_with(on);
      return fenced(on, run_row["run.step"],
                    {identity_.process.str(), identity_.key.str(), held_.epoch, held_.uuid, name,
                     std::string_view(value)})
                 ? decision::commit
                 : decision::rollback;
    };
    try {
      auto const decided = transact(with_,
                                    {.name = "step",
                                     .level = options.level,
                                     .patience = patience(),
                                     .when_unreachable = unreachable::keep_trying},
                                    attempt);
      if (decided == decision::rollback) return outcome::lost;
      if (renewed) who_->renewed(sent);
      return outcome::done;
    } catch (error const& e) {
      if (!e.in_doubt()) throw;
    }
    switch (resolve_step(name, value)) {
      case fate::had_committed: return outcome::done;
      case fate::lost: return outcome::lost;
      case fate::never_will: break;  // the whole transaction again, under the new epoch
    }
  }
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
      transact(with_,
               {.name = "resolve",
                .patience = patience(),
                .when_unreachable = unreachable::keep_trying},
               [&](db::session& on) {
                 found = fate::lost;
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
    } catch (error const& e) {
      if (fresh.epoch != 0) candidates.push_back(fresh);
      if (e.in_doubt()) continue;
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
  return resolve("step", [&](db::session& on, std::vector<acquisition> const& candidates,
                             fate advanced) {
    if (advanced == fate::lost) return false;
    auto const recorded = db::run(on, with_.sql["run.step_recorded"],
                                  {identity_.process.str(), identity_.key.str(), identity_.number,
                                   name});
    if (recorded.size() == 0) return false;
    std::string by;
    decode(recorded.row(0)[0], by);
    decode(recorded.row(0)[1], value);
    return std::any_of(candidates.begin(), candidates.end(),
                       [&](acquisition const& one) { return one.uuid == by; });
  });
}

held_run::fate held_run::resolve_end() {
  return resolve("end", [&](db::session& on, std::vector<acquisition> const& candidates, fate) {
    // An ended run does not advance: its attempt in the history is the evidence, also when
    // somebody has started it afresh since.
    return std::any_of(candidates.begin(), candidates.end(), [&](acquisition const& one) {
      return db::run(on, with_.sql["run.end_recorded"],
                     {identity_.process.str(), identity_.key.str(), one.epoch, one.uuid})
                 .size() == 1;
    });
  });
}

outcome held_run::record(std::string_view name) {
  begin_step(name);
  if (lost_) return outcome::lost;
  if (done_before_.contains(std::string(name))) return outcome::skipped;
  for (;;) {
    bool recorded_before = false;
    try {
      auto const decided = transact(
          with_,
          {.name = "record",
           .patience = patience(),
           .when_unreachable = unreachable::keep_trying},
          [&](db::session& on) {
            // The record may be there already: by this very call, when the reply to its COMMIT
            // was lost. Running the same guarded transaction again is harmless, and this process
            // may not advance a fence that is another's.
            recorded_before = db::run(on, with_.sql["run.step_recorded"],
                                      {identity_.process.str(), identity_.key.str(),
                                       identity_.number, name})
                                  .size() == 1;
            if (recorded_before) return decision::rollback;
            return fenced(on, with_.sql["run.step"],
                          {identity_.process.str(), identity_.key.str(), held_.epoch, held_.uuid,
                           name, ""})
                       ? decision::commit
                       : decision::rollback;
          });
      if (decided == decision::commit || recorded_before) {
        with_.watch.step_done(event(name));
        return outcome::done;
      }
      mark_lost();
      return outcome::lost;
    } catch (error const& e) {
      if (!e.in_doubt()) throw;
    }
  }
}

bool held_run::end(run_state state, std::string_view why) {
  with_.check_process();
  if (!open_ || lost_) {
    open_ = false;
    return false;
  }
  auto const text = base::bounded(why, longest_error);
  bool held = false;
  for (bool settled = false; !settled;) {
    settled = true;
    try {
      held = transact(with_,
                      {.name = "end",
                       .patience = patience(),
                       .when_unreachable = unreachable::keep_trying},
                      [&](db::session& on) {
                        return fenced(on, with_.sql["run.end"],
                                      {identity_.process.str(), identity_.key.str(), held_.epoch,
                                       held_.uuid, std::int64_t{static_cast<int>(state)},
                                       std::string_view(text)})
                                   ? decision::commit
                                   : decision::rollback;
                      }) == decision::commit;
    } catch (error const& e) {
      if (!e.in_doubt()) throw;
      auto const what = resolve_end();
      held = what == fate::had_committed;
      settled = what != fate::never_will;
    }
  }
  open_ = false;
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

std::string held_run::token() const { return write_token(identity_, held_); }

std::string held_run::idempotency_key(std::string_view step) const {
  return base::digest({identity_.process.str(), identity_.key.str(),
                       std::to_string(identity_.number), step});
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
