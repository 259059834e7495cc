#include "queue/claims/share.hpp"

#include "base/failpoint.hpp"
#include "base/mutant.hpp"
#include "base/rows.hpp"
#include "queue/claims/batch.hpp"

#include <daybook/error.hpp>
#include <daybook/transaction.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

[[noreturn]] void some_are_over(store const& store) {
  throw error({.kind = error_code::bad_argument},
              "some of these tasks of queue '" + store.name() +
                  "' are finished: a transaction whose reply was lost has done them");
}

}  // namespace

share::share(batch& batch, std::span<task const* const> tasks) : batch_(&batch) {
  batch.of().with().check_process();
  if (tasks.empty()) {
    throw error({.kind = error_code::bad_argument}, "no task of queue '" + batch.of().name() +
                                                        "' is given that its effect would finish");
  }
  places_.reserve(tasks.size());
  std::lock_guard const lock(batch.guard_);
  try {
    for (auto const* const one : tasks) {
      auto const at = batch.open_position(*one);
      batch.standings_[at] = batch::standing::in_ledger;
      places_.push_back(at);
    }
  } catch (...) {
    reopen();
    throw;
  }
  batch.ledger_used_ = true;
}

share::~share() {
  if (batch_ == nullptr) return;
  std::lock_guard const lock(batch_->guard_);
  reopen();
}

void share::reopen() noexcept {
  for (auto const at : places_) batch_->standings_[at] = batch::standing::open;
}

void share::keep() noexcept {
  std::lock_guard const lock(batch_->guard_);
  for (auto const at : places_) batch_->standings_[at] = batch::standing::written;
  batch_ = nullptr;
}

bool share::write(db::session& session) {
  std::vector<verdict> const all(places_.size(), {.what = verdict::kind::success});
  return write(session, all);
}

bool share::write(db::session& session, std::span<verdict const> verdicts) {
  base::rows done;
  std::int64_t count = 0;
  for (std::size_t first = 0; first < places_.size(); ++count) {
    // Neighbours that end alike are one row.
    auto const& task = batch_->tasks_[places_[first]];
    auto next = first + 1;
    for (; next < places_.size(); ++next) {
      auto const& other = batch_->tasks_[places_[next]];
      auto const distance = static_cast<std::int64_t>(next - first);
      if (other.id != task.id + distance || other.attempt != task.attempt ||
          verdicts[next] != verdicts[first]) {
        break;
      }
    }
    add_done(done, task, static_cast<std::int64_t>(next - first), verdicts[first]);
    first = next;
  }
  lost_ = !batch_->write_done(session, done.text(), count);
  return !lost_;
}

share::fate share::resolve() {
  auto const& with = batch_->of().with();
  bool held = false;
  std::ptrdiff_t over = 0;
  core::transact(with, core::for_a_lease(with, "resolve_task"), [&](db::session& session) {
    held = batch_->lock_claim(session);
    if (!held) return core::decision::rollback;
    auto const there = batch_->in_ledger(session);
    over = std::count_if(places_.begin(), places_.end(),
                         [&](std::size_t index) { return there[index] != 0; });
    if (over == 0) return core::decision::rollback;
    session.confirm_seen();
    return core::decision::commit;
  });
  if (!held) return told();
  lost_ = false;
  if (over == 0) return fate::never_will;
  if (std::cmp_less(over, places_.size())) some_are_over(batch_->of());
  return fate::committed;
}

/// Of a claim that was taken back: what became of them by then.
share::fate share::told() {
  auto const& with = batch_->of().with();
  lost_ = false;
  core::read(with, [&](db::session& session) {
    lost_ = !std::all_of(places_.begin(), places_.end(), [&](std::size_t index) {
      std::int64_t state = -1;
      auto const found =
          db::run(session, with.sql["task.told"], {batch_->id_, batch_->tasks_[index].id});
      if (found.size() > 0) decode(found.row(0)[0], state);
      return state == static_cast<std::int64_t>(task_state::succeeded);
    });
  });
  if (!lost_) core::confirm_seen(with);
  return lost_ ? fate::lost : fate::committed;
}

task const& share::first() const { return batch_->tasks()[places_.front()]; }

void share::doubt() noexcept { batch_->doubt(places_); }

share::fate share::before() {
  {
    std::lock_guard const lock(batch_->guard_);
    auto const doubtful = [&](std::size_t index) { return batch_->doubtful_[index] != 0; };
    if (std::none_of(places_.begin(), places_.end(), doubtful)) return fate::never_will;
  }
  return resolve();
}

namespace {

/// False: the claim of one is lost, and nothing may be kept.
bool write_all(std::span<share> all, db::session& session) {
  return std::all_of(all.begin(), all.end(), [&](share& one) { return one.write(session); });
}

share::fate before(std::span<share> all) {
  std::ptrdiff_t over = 0;
  for (auto& one : all) {
    auto const found = one.before();
    if (found == share::fate::lost) return found;
    if (found == share::fate::committed) ++over;
  }
  if (over == 0) return share::fate::never_will;
  if (std::cmp_less(over, all.size())) some_are_over(all.front().of().of());
  return share::fate::committed;
}

/// "task 'a' of queue 'q'", "task 'a' and 3 more of queue 'q'".
std::string place_of(std::span<share const> all) {
  std::size_t others = 0;
  for (auto const& one : all) others += one.size();
  auto out = "task '" + all.front().first().key + "'";
  if (--others > 0) out += " and " + std::to_string(others) + " more";
  return out + " of queue '" + all.front().of().of().name() + "'";
}

outcome kept(std::span<share> all) {
  for (auto& one : all) one.keep();
  return outcome::done;
}

}  // namespace

outcome perform(std::span<share> all, std::function<void(transaction&)> const& body) {
  auto const& with = all.front().of().of().with();
  bool const apart = base::left_out("perform_together");
  auto const place = place_of(all);
  switch (before(all)) {
    case share::fate::committed: return kept(all);
    case share::fate::lost: return outcome::lost;
    case share::fate::never_will: break;
  }
  for (;;) {
    try {
      auto const decided =
          core::transact(with, core::for_a_lease(with, "perform"), [&](db::session& session) {
            if (!apart && !write_all(all, session)) return core::decision::rollback;
            transaction tx(session, with.user_sql, place);
            body(tx);
            if (base::hit_failpoint("perform.effect_done")) session.cut();
            return core::decision::commit;
          });
      if (decided == core::decision::rollback) return outcome::lost;
      break;
    } catch (core::lost_reply const&) {
      for (auto& one : all) one.doubt();
      // One speaks for all: they are there together, or not at all.
      auto const found = all.front().resolve();
      if (found == share::fate::never_will) continue;
      if (found == share::fate::lost) return outcome::lost;
      break;
    }
  }
  if (apart) {
    core::transact(with, core::for_a_lease(with, "flush"), [&](db::session& session) {
      return write_all(all, session) ? core::decision::commit : core::decision::rollback;
    });
  }
  return kept(all);
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
