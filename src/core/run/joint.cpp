// Steps and endings in a transaction of the application's, whose COMMIT the library cannot see.
// What became of them is read by name and acquisition: within the next transaction that the
// application gives us, which sees its own and what has committed; or on a connection of ours,
// once the application says that its transaction is over.
#include "core/run/run.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace core {

void held_run::check_joinable(std::string_view book_id) const {
  context_.check_process();
  check_turn();
  if (book_id == context_.book_id) return;
  throw error({.kind = error_code::bad_argument},
              "the joined transaction is of another book than the run " + process() +
                  ": join it through the book that started the run");
}

bool held_run::recorded_by(db::session& session, std::string_view step,
                           std::vector<acquisition> const& candidates) const {
  auto const found = db::run(session, context_.sql["run.step_recorded"],
                             {process(), key(), identity_.number, step});
  if (found.size() == 0) return false;
  std::string by;
  decode(found.row(0)[0], by);
  return std::any_of(candidates.begin(), candidates.end(),
                     [&](acquisition const& one) { return one.uuid == by; });
}

bool held_run::recorded_by_us(db::session& session, std::string_view step) const {
  return recorded_by(session, step, {held_});
}

/// What became of what is pending. `there`: the steps that are recorded; `ended`: the end is;
/// `held`: the run is still ours.
commit_outcome held_run::settle(std::set<std::string, std::less<>> const& there, bool ended,
                                bool held) {
  bool all = true;
  for (auto& [name, value, stamp] : std::exchange(pending_steps_, {})) {
    if (there.contains(name)) {
      context_.watch.step_done(event(name));
      held_.seen = std::max(held_.seen, stamp);
      memory_.steps[name] = {std::move(value), step_mode::tx};
    } else {
      used_.erase(name);
      all = false;
    }
  }
  if (pending_end_) {
    all = ended;
    if (ended || !held) open_ = false;
    if (ended && holder_) holder_->ended({process(), key(), held_.uuid});
    if (ended) context_.watch.finished(event());
  }
  pending_end_.reset();
  if (all) return commit_outcome::committed;
  if (held) return commit_outcome::rolled_back;
  settle_lost();
  return commit_outcome::lost;
}

/// Before more is written in a transaction of the application's: it sees its own steps, and those
/// that have committed; what it does not see was rolled back.
void held_run::settle_within(db::session& yours) {
  std::erase_if(pending_steps_, [&](auto const& one) {
    if (recorded_by_us(yours, one.name)) return false;
    used_.erase(one.name);
    return true;
  });
}

/// Before anything is written on a connection of ours.
void held_run::settle_pending() {
  if (!pending_steps_.empty()) confirm();
}

outcome held_run::step_in(db::session& yours, std::string_view book_id, std::string_view name,
                          body const& work, std::string& value) {
  check_joinable(book_id);
  settle_within(yours);
  if (!begin_step(name, step_mode::tx)) return outcome::lost;
  if (auto const before = memory_.steps.find(name); before != memory_.steps.end()) {
    value = before->second.value;
    return outcome::skipped;
  }
  auto decided = decision::rollback;
  bool renewed = false;
  try {
    decided = do_step(yours, name, {}, work, value, renewed, false);
  } catch (...) {
    used_.erase(std::string(name));
    throw;
  }
  if (decided == decision::rollback) {
    settle_lost();
    return outcome::lost;
  }
  pending_steps_.push_back({std::string(name), value, stamp_});
  return outcome::done;
}

outcome held_run::end_in(db::session& yours, std::string_view book_id, run_state state) {
  check_joinable(book_id);
  settle_within(yours);
  if (!open_ || lost_) return outcome::lost;
  if (!write_end(end_on(yours), state, {})) {
    auto const still = standing_now(yours);
    if (still && !still->deadline_over && still->intents) return outcome::unknown;
    settle_lost();
    return outcome::lost;
  }
  pending_end_ = state;
  return outcome::done;
}

commit_outcome held_run::confirm() {
  context_.check_process();
  check_turn();
  if (lost_) return commit_outcome::lost;
  if (pending_steps_.empty() && !pending_end_) return commit_outcome::committed;
  std::set<std::string, std::less<>> there;
  bool ended = false;
  bool held = false;
  read(context_, context_.lease, [&](db::session& session) {
    there.clear();
    for (auto const& one : pending_steps_) {
      if (recorded_by_us(session, one.name)) there.insert(one.name);
    }
    ended = pending_end_ && end_recorded(session, held_, *pending_end_);
    auto const rows = db::run(session, context_.sql["run.held"],
                              {process(), key(), held_.epoch, held_.uuid, held_.seen});
    held = rows.size() == 1;
  });
  return settle(there, ended, held);
}

commit_outcome held_run::resolve() {
  context_.check_process();
  check_turn();
  if (lost_) return commit_outcome::lost;
  if (!holder_) {
    throw error({.kind = error_code::bad_argument},
                "only the process that started " + process() +
                    " can resolve a lost COMMIT reply: its fence goes on by one");
  }
  if (pending_steps_.empty() && !pending_end_) return commit_outcome::committed;
  std::set<std::string, std::less<>> there;
  bool ended = false;
  auto const found = resolve_doubt(
      "joined", [&](db::session& session, std::vector<acquisition> const& candidates, fate) {
        there.clear();
        for (auto const& one : pending_steps_) {
          if (recorded_by(session, one.name, candidates)) there.insert(one.name);
        }
        ended = pending_end_ &&
                std::any_of(candidates.begin(), candidates.end(), [&](acquisition const& one) {
                  return end_recorded(session, one, *pending_end_);
                });
        return pending_end_ ? ended : there.size() == pending_steps_.size();
      });
  // Where all is there, the end ended the run, or the fence went on by one.
  return settle(there, ended, found != fate::lost && !ended);
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
