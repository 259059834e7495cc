// What a lost COMMIT reply meant.
#include "base/mutant.hpp"
#include "base/uuid.hpp"
#include "core/run/run.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

bool among(std::vector<acquisition> const& candidates, std::string_view uuid) {
  return std::any_of(candidates.begin(), candidates.end(),
                     [&](acquisition const& one) { return one.uuid == uuid; });
}

}  // namespace

/// After a lost COMMIT reply a read is not enough: the old transaction may commit after we
/// looked. So the fence goes on by one, in one transaction with the reading: the old one is then
/// either visible or can never commit. When this COMMIT's reply is lost too, any of the
/// acquisitions so far may be on the row.
held_run::fate held_run::resolve_doubt(std::string_view transaction_name,
                                       evidence const& found_in) {
  std::vector<acquisition> candidates{held_};
  for (;;) {
    acquisition fresh{0, base::new_uuid(), 0};
    fate found = fate::lost;
    try {
      transact(context_, for_a_lease(context_, "resolve"), [&](db::session& session) {
        found = fate::lost;
        fresh.epoch = 0;  // of a try that was rolled back
        next_stamp();
        for (auto const& old : candidates) {
          if (base::left_out("advance")) {
            found = fate::never_will;  // as a mere read would have it
            break;
          }
          if (fenced(session, context_.sql["run.advance"],
                     {process(), key(), old.epoch, old.uuid, held_.seen, stamp_,
                      std::string_view(fresh.uuid)})) {
            fresh.epoch = old.epoch + 1;
            fresh.seen = stamp_;
            found = fate::never_will;
            break;
          }
        }
        if (found_in(session, candidates, found)) found = fate::had_committed;
        // Without a write of its own this COMMIT would not wait for what the old one waited for.
        if (found == fate::had_committed && fresh.epoch == 0) session.confirm_seen();
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
        lease_->add_orphan({process(), key(), one.uuid});
      }
      throw;
    }
    if (fresh.epoch != 0) {
      held_ = fresh;
      if (holder_) holder_->set_held(*hand_, held_);
    }
    context_.watch.doubt_resolved(transaction_name, found == fate::had_committed);
    return found;
  }
}

held_run::fate held_run::resolve_step(std::string_view name, std::string& value) {
  return resolve_doubt(
      "step", [&](db::session& session, std::vector<acquisition> const& candidates, fate advanced) {
        if (advanced == fate::lost) return false;
        auto const recorded = db::run(session, context_.sql["run.step_recorded"],
                                      {process(), key(), identity_.number, name});
        if (recorded.size() == 0) return false;
        std::string by;
        decode(recorded.row(0)[0], by);
        decode(recorded.row(0)[1], value);
        return among(candidates, by);
      });
}

/// `token`: of the intent that the transaction wrote; empty: it deleted one.
held_run::fate held_run::resolve_intent(std::string_view name, std::string_view token) {
  return resolve_doubt("intend",
                       [&](db::session& session, std::vector<acquisition> const&, fate advanced) {
                         return advanced != fate::lost && intent_token(session, name) == token;
                       });
}

/// Nobody needs to know whether it had: it is written again. What matters is that the old one
/// cannot come after it.
held_run::fate held_run::resolve_written(std::string_view transaction_name) {
  return resolve_doubt(transaction_name,
                       [](db::session&, std::vector<acquisition> const&, fate) { return false; });
}

held_run::fate held_run::resolve_end(run_state state) {
  return resolve_doubt(
      "end", [&](db::session& session, std::vector<acquisition> const& candidates, fate) {
        // An ended run does not advance: its attempt in the history is the evidence, also when
        // somebody has started it afresh since.
        return std::any_of(candidates.begin(), candidates.end(), [&](acquisition const& one) {
          return end_recorded(session, one, state);
        });
      });
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
