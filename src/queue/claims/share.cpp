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

[[noreturn]] void some_are_over(store const& of) {
  throw error({.kind = error_code::bad_argument},
              "some of these tasks of queue '" + of.name() +
                  "' are finished: a transaction whose reply was lost has done them");
}

}  // namespace

share::share(batch& of, std::span<task const* const> tasks) : of_(&of) {
  of.of().with().check_process();
  if (tasks.empty()) {
    throw error({.kind = error_code::bad_argument},
                "no task of queue '" + of.of().name() + "' is given that its effect would finish");
  }
  places_.reserve(tasks.size());
  std::lock_guard const lock(of.guard_);
  try {
    for (auto const* const one : tasks) {
      auto const at = of.open_position(*one);
      of.standings_[at] = batch::standing::in_ledger;
      places_.push_back(at);
    }
  } catch (...) {
    reopen();
    throw;
  }
  of.ledger_used_ = true;
}

share::~share() {
  if (of_ == nullptr) return;
  std::lock_guard const lock(of_->guard_);
  reopen();
}

void share::reopen() noexcept {
  for (auto const at : places_) of_->standings_[at] = batch::standing::open;
}

void share::keep() noexcept {
  std::lock_guard const lock(of_->guard_);
  for (auto const at : places_) of_->standings_[at] = batch::standing::written;
  of_ = nullptr;
}

bool share::write(db::session& on) {
  std::vector<verdict> const all(places_.size(), {.what = verdict::kind::success});
  return write(on, all);
}

bool share::write(db::session& on, std::span<verdict const> how) {
  base::rows done;
  std::int64_t count = 0;
  for (std::size_t first = 0; first < places_.size(); ++count) {
    // Neighbours that end alike are one row.
    auto const& task = of_->tasks_[places_[first]];
    auto next = first + 1;
    for (; next < places_.size(); ++next) {
      auto const& other = of_->tasks_[places_[next]];
      auto const distance = static_cast<std::int64_t>(next - first);
      if (other.id != task.id + distance || other.attempt != task.attempt ||
          how[next] != how[first]) {
        break;
      }
    }
    add_done(done, task, static_cast<std::int64_t>(next - first), how[first]);
    first = next;
  }
  lost_ = !of_->write_done(on, done.text(), count);
  return !lost_;
}

share::fate share::resolve() {
  auto const& with = of_->of().with();
  bool held = false;
  std::ptrdiff_t over = 0;
  core::transact(with, core::for_a_lease(with, "resolve_task"), [&](db::session& on) {
    held = of_->lock_claim(on);
    if (!held) return core::decision::rollback;
    auto const there = of_->in_ledger(on);
    over = std::count_if(places_.begin(), places_.end(),
                         [&](std::size_t at) { return there[at] != 0; });
    if (over == 0) return core::decision::rollback;
    on.confirm_seen();
    return core::decision::commit;
  });
  if (!held) return told();
  lost_ = false;
  if (over == 0) return fate::never_will;
  if (std::cmp_less(over, places_.size())) some_are_over(of_->of());
  return fate::committed;
}

/// Of a claim that was taken back: what became of them by then.
share::fate share::told() {
  auto const& with = of_->of().with();
  lost_ = false;
  core::read(with, [&](db::session& on) {
    lost_ = !std::all_of(places_.begin(), places_.end(), [&](std::size_t at) {
      std::int64_t state = -1;
      auto const found = db::run(on, with.sql["task.told"], {of_->id_, of_->tasks_[at].id});
      if (found.size() > 0) decode(found.row(0)[0], state);
      return state == static_cast<std::int64_t>(task_state::succeeded);
    });
  });
  if (!lost_) core::confirm_seen(with);
  return lost_ ? fate::lost : fate::committed;
}

task const& share::first() const { return of_->tasks()[places_.front()]; }

void share::doubt() noexcept { of_->doubt(places_); }

share::fate share::before() {
  {
    std::lock_guard const lock(of_->guard_);
    auto const doubtful = [&](std::size_t at) { return of_->doubtful_[at] != 0; };
    if (std::none_of(places_.begin(), places_.end(), doubtful)) return fate::never_will;
  }
  return resolve();
}

namespace {

/// False: the claim of one is lost, and nothing may be kept.
bool write_all(std::span<share> all, db::session& on) {
  return std::all_of(all.begin(), all.end(), [&](share& one) { return one.write(on); });
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
          core::transact(with, core::for_a_lease(with, "perform"), [&](db::session& on) {
            if (!apart && !write_all(all, on)) return core::decision::rollback;
            transaction tx(on, with.user_sql, place);
            body(tx);
            if (base::hit_failpoint("perform.effect_done")) on.cut();
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
    core::transact(with, core::for_a_lease(with, "flush"), [&](db::session& on) {
      return write_all(all, on) ? core::decision::commit : core::decision::rollback;
    });
  }
  return kept(all);
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
