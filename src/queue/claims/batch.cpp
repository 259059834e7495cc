#include "queue/claims/batch.hpp"

#include "base/digest.hpp"
#include "base/mutant.hpp"
#include "base/rows.hpp"
#include "base/text.hpp"
#include "db/cells.hpp"
#include "queue/claims/share.hpp"
#include "queue/members/series.hpp"

#include <daybook/error.hpp>
#include <daybook/transaction.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

constexpr std::size_t longest_remark = 2000;

verdict verdict_of(result const& how) {
  verdict out;
  switch (how.what()) {
    case result::kind::success: out.what = verdict::kind::success; break;
    case result::kind::failure: out.what = verdict::kind::failure; break;
    case result::kind::snooze: out.what = verdict::kind::snooze; break;
    case result::kind::cancel: out.what = verdict::kind::cancel; break;
    case result::kind::unknown: out.what = verdict::kind::unknown; break;
  }
  out.delay_us = how.length().count();
  if (!how.remark().empty()) out.remark = base::bounded(how.remark(), longest_remark);
  return out;
}

}  // namespace

void add_done(base::rows& to, task const& of, std::int64_t count, verdict const& how) {
  to.begin().add(of.id).add(of.id + count).add(static_cast<std::int64_t>(state_of(how.what)));
  to.add(std::int64_t{of.attempt}).add(how.delay_us).add(std::string_view(how.remark));
}

task_state state_of(verdict::kind what) noexcept {
  switch (what) {
    case verdict::kind::success: return task_state::succeeded;
    case verdict::kind::failure: return task_state::failed;
    case verdict::kind::cancel: return task_state::discarded;
    case verdict::kind::unknown: return task_state::unknown;
    default: return task_state::waiting;
  }
}

ends text_of(settled what, policy const& by) {
  base::rows segments;
  for (auto const& [s, how] : what.back) {
    segments.begin().add(s.lo).add(s.hi).add(std::int64_t{s.lane});
    segments.add(static_cast<std::int64_t>(s.state)).add(std::int64_t{s.attempts});
    segments.add(std::int64_t{s.crashes}).add(s.turn_us).add(s.period_us);
    segments.add(static_cast<std::int64_t>(how)).add(s.due_us);
  }
  base::rows outcomes;
  for (auto const& t : what.history) {
    outcomes.begin().add(t.lo).add(t.hi).add(static_cast<std::int64_t>(t.state));
    outcomes.add(std::int64_t{t.attempts}).add(t.turn_us).add(t.finished_us);
    outcomes.add(std::string_view(t.remark));
  }
  ends out{segments.text(), outcomes.text()};
  if (by.in_order) out.over = over_in(what.back);
  out.failed = std::move(what.failed);
  return out;
}

void tell(store const& in, last_failure const& of, std::string_view key) noexcept {
  task_event const event{in.name(), key, of.attempts, of.crashes, of.remark};
  auto& watch = in.with().watch;
  if (of.state == task_state::unknown) return watch.task_unknown(event);
  if (of.state == task_state::dead) return watch.task_dead(event);
  watch.task_failed(event);
}

batch::batch(std::shared_ptr<store> of, std::string id, std::string holder,
             std::vector<segment> ranges, std::vector<task> tasks)
    : of_(std::move(of)),
      id_(std::move(id)),
      holder_(std::move(holder)),
      mark_(std::in_place, of_->lease(), id_),
      ranges_(std::move(ranges)),
      tasks_(std::move(tasks)),
      standings_(tasks_.size(), standing::open),
      verdicts_(tasks_.size()),
      doubtful_(tasks_.size()) {}

batch::~batch() {
  if (over_ || of_->with().forked()) return;
  try {
    complete();
  } catch (std::exception const& e) {
    of_->with().watch.retried("complete", e.what());
    of_->add_orphan(id_, holder_, orphaned::in_work);
  }
}

// With the id: a key that was removed and comes again in the same grain has the same turn.
std::string batch::idempotency_key(task const& of) const {
  return base::digest({of_->with().book_id, "queue", of_->name(), of.key, std::to_string(of.id),
                       std::to_string(db::us_of(of.turn))});
}

std::size_t batch::position(task const& of) const {
  // Most claims are of neighbours: the distance of the ids is the one in here.
  if (!tasks_.empty() && of.id >= tasks_.front().id) {
    auto const guess = static_cast<std::size_t>(of.id - tasks_.front().id);
    if (guess < tasks_.size() && tasks_[guess].id == of.id) return guess;
  }
  auto const found = std::lower_bound(tasks_.begin(), tasks_.end(), of.id,
                                      [](task const& t, std::int64_t id) { return t.id < id; });
  if (found == tasks_.end() || found->id != of.id) {
    throw error({.kind = error_code::bad_argument},
                "the task '" + of.key + "' is not one of this claim of queue '" + of_->name() +
                    "': a result is given to the claim that the task came with");
  }
  return static_cast<std::size_t>(found - tasks_.begin());
}

std::size_t batch::open_position(task const& of) const {
  auto const at = position(of);
  if (over_) {
    throw error({.kind = error_code::bad_argument},
                "the task '" + of.key + "' is finished after its claim was completed");
  }
  if (standings_[at] != standing::open) {
    throw error({.kind = error_code::bad_argument},
                "the task '" + of.key + "' of queue '" + of_->name() + "' is finished already");
  }
  return at;
}

std::int64_t batch::size() const noexcept {
  std::int64_t sum = 0;
  for (auto const& one : ranges_) sum += one.size();
  return sum;
}

void batch::space_starts(std::int64_t first_us, std::int64_t slot_us) {
  for (auto& one : tasks_) {
    auto const slot = std::exchange(first_us, first_us + slot_us);
    one.slot = std::chrono::microseconds(std::max<std::int64_t>(0, slot));  // it may be saved up
  }
}

void batch::finish(task const& of, result how) {
  std::lock_guard const lock(guard_);
  auto const at = open_position(of);
  verdicts_[at] = verdict_of(how);
  if (verdicts_[at].what == verdict::kind::failure) {
    verdicts_[at].delay_us =
        backoff_us(of_->present().by, of.id, db::us_of(tasks_[at].turn), of.attempt);
  }
  standings_[at] = standing::noted;
}

bool batch::write_done(db::session& on, std::string const& rows, std::int64_t count) const {
  return db::run(on, of_->with().sql["claim.done"], {id_, holder_, rows}).affected == count;
}

outcome batch::perform(std::span<task const* const> of,
                       std::function<void(transaction&)> const& body) {
  share mine(*this, of);
  return queues::perform(std::span(&mine, 1), body);
}

bool batch::finish_in(db::session& yours, std::span<task const* const> of) {
  share mine(*this, of);
  if (!mine.write(yours)) return false;
  mine.leave();
  return true;
}

bool batch::flush() {
  auto const& with = of_->with();
  with.check_process();
  std::lock_guard const alone(flushing_);
  std::vector<std::size_t> noted;
  bool in_doubt = false;
  {
    std::lock_guard const lock(guard_);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (standings_[i] != standing::noted) continue;
      noted.push_back(i);
      in_doubt = in_doubt || doubtful_[i] != 0;
    }
    if (noted.empty()) return true;
    ledger_used_ = true;
  }
  bool held = true;
  for (;;) {
    try {
      core::transact(with, core::for_a_lease(with, "flush"), [&](db::session& on) {
        std::vector<char> there(tasks_.size());
        if (in_doubt) {
          held = lock_claim(on);
          if (!held) return core::decision::rollback;
          there = in_ledger(on);
        }
        base::rows done;
        std::int64_t count = 0;
        for (auto const i : noted) {
          if (there[i] != 0) continue;
          add_done(done, tasks_[i], 1, verdicts_[i]);
          ++count;
        }
        if (count == 0) return core::decision::rollback;
        held = write_done(on, done.text(), count);
        return held ? core::decision::commit : core::decision::rollback;
      });
      break;
    } catch (core::lost_reply const&) {
      doubt(noted);
      in_doubt = true;
    }
  }
  if (!held) return false;
  std::lock_guard const lock(guard_);
  for (auto const i : noted) standings_[i] = standing::written;
  return true;
}

bool batch::all_ended() const {
  std::int64_t in_ledger = 0;
  bool in_doubt = false;
  {
    std::lock_guard const lock(guard_);
    for (auto const one : standings_) {
      if (one == standing::open) return false;
      in_doubt = in_doubt || one == standing::in_ledger;
      if (one != standing::noted) ++in_ledger;
    }
  }
  if (!in_doubt) return true;
  // Others' transactions have ended by now; the ledger has what they committed.
  core::read(of_->with(), of_->with().lease, [&](db::session& on) {
    for (auto const& one : ledger_of(of_->with(), on, id_).ended) in_ledger -= one.hi - one.lo;
  });
  return in_ledger == 0;
}

void batch::doubt(std::span<std::size_t const> of) noexcept {
  std::lock_guard const lock(guard_);
  for (auto const at : of) doubtful_[at] = 1;
}

/// Whether it is ours. It waits for transactions that write into its ledger, and then what they
/// wrote is there or never will be.
bool batch::lock_claim(db::session& on) const {
  return db::run(on, of_->with().sql["claim.lock"], {id_, holder_}).size() > 0;
}

std::vector<char> batch::in_ledger(db::session& on) const {
  std::vector<char> out(tasks_.size());
  for (auto const& entry : ledger_of(of_->with(), on, id_).ended) {
    for (auto id = entry.lo; id < entry.hi; ++id) out[position({.id = id})] = 1;
  }
  return out;
}

void batch::read_ledger(db::session& on) {
  // What we believe to be there may have been rolled back by whoever it belongs to.
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (standings_[i] == standing::in_ledger) verdicts_[i] = {};
  }
  for (auto const& entry : ledger_of(of_->with(), on, id_).ended) {
    for (auto id = entry.lo; id < entry.hi; ++id) verdicts_[position({.id = id})] = entry.how;
  }
}

settled batch::settle_all(policy const& by) const {
  std::vector<ending> endings(tasks_.size());
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    bool const open = verdicts_[i].what == verdict::kind::none;
    endings[i] = {tasks_[i].id, open ? nullptr : &verdicts_[i]};
  }
  return settle(by, ranges_, endings, unfinished::handed_back);
}

batch::end batch::end_in(db::session& on, policy const& by, ends& what) {
  auto const& with = of_->with();
  if (ledger_used_) {
    if (!lock_claim(on)) return end::gone;
    read_ledger(on);
    db::run(on, with.sql["claim.forget_done"], {id_});
    what = text_of(settle_all(by), by);
  }
  auto const ended = db::run(
      on, with.sql["claim.complete"],
      {id_, holder_, what.segments, what.outcomes, std::int64_t{by.record_every_outcome ? 1 : 0}});
  if (!ended.something()) return end::gone;
  if (by.in_order) end_series(with, on, what.over);
  return end::ours;
}

void batch::tell(ends const& what) const noexcept {
  if (became_ != outcome::done) return;
  for (auto const& one : what.failed) queues::tell(*of_, one, tasks_[position({.id = one.id})].key);
}

/// After a COMMIT with a lost reply: a claim that is not there was ended by us, as long as one that
/// was taken back would have its tombstone.
outcome batch::what_became() {
  auto out = outcome::lost;
  auto const& with = of_->with();
  core::read(with, with.lease, [&](db::session& on) {
    out = outcome::lost;
    if (db::run(on, with.sql["claim.look"], {id_}).size() > 0) return;
    auto const known = db::run(on, with.sql["claim.is_known"], {holder_, tombstone_us});
    out = known.size() > 0 ? outcome::done : outcome::unknown;
  });
  if (out == outcome::done) core::confirm_seen(with);
  return out;
}

outcome batch::ended(std::function<void(db::session&)> const& and_then) {
  auto const& with = of_->with();
  with.check_process();
  auto const by = of_->present().by;
  ends what;
  // Before the transaction begins: where writers take turns, they wait for no more than they must.
  if (!ledger_used_) what = text_of(settle_all(by), by);
  for (;;) {
    try {
      auto const decided =
          core::transact(with, core::for_a_lease(with, "complete"), [&](db::session& on) {
            if (end_in(on, by, what) == end::gone) return core::decision::rollback;
            if (and_then) and_then(on);
            if (with.dialect.one_writer || with.borrowed) of_->renew_within(on);
            return core::decision::commit;
          });
      over_ = true;
      mark_.reset();
      if (decided == core::decision::commit) {
        became_ = outcome::done;
      } else {
        became_ = end_in_doubt_ ? what_became() : outcome::lost;
      }
      tell(what);
      return *became_;
    } catch (core::lost_reply const&) {
      end_in_doubt_ = true;
    }
  }
}

bool batch::goes_together() const {
  return of_->goes_together() && !ledger_used_ && !end_in_doubt_ && !of_->present().by.in_order;
}

outcome batch::end_together(claim_options const& options, std::unique_ptr<batch>* next) {
  auto const& with = of_->with();
  with.check_process();
  auto const by = of_->present().by;
  auto const texts = text_of(settle_all(by), by);
  std::vector<db::call> calls;
  db::add_calls(calls, with.sql["claim.complete"],
                {id_, holder_, texts.segments, texts.outcomes,
                 std::int64_t{by.record_every_outcome ? 1 : 0}});
  auto const fence = calls.size() - 1;
  std::string id;
  std::string holder;
  std::optional<core::claim_mark> mark;
  if (next != nullptr) {
    id = store::new_id();
    mark.emplace(of_->lease(), id);
    holder = of_->holder();
    of_->add_taking(calls, id, holder, options);
  }
  try {
    auto answers = core::write_together(with, core::for_a_lease(with, "complete"), calls);
    over_ = true;
    mark_.reset();
    became_ = answers[fence].something() ? outcome::done : outcome::lost;
    tell(texts);
    if (next != nullptr) {
      *next =
          of_->taken(store::answered(std::span(answers).subspan(fence + 1), options), id, holder);
      of_->follow_seen();
    }
    return *became_;
  } catch (core::lost_reply const&) {
    // Both are there, or neither.
    end_in_doubt_ = true;
    try {
      auto const became = ended({});
      if (next == nullptr || (*next = of_->settle_claim(id, holder))) return became;
      // That claim never will be made, which does not mean that nothing is due.
      if (became == outcome::done) *next = of_->try_claim(options);
      return became;
    } catch (...) {
      if (next != nullptr) of_->add_orphan(id, holder);
      throw;
    }
  }
}

outcome batch::complete() {
  std::lock_guard const lock(guard_);
  if (became_) return *became_;
  return goes_together() ? end_together({}, nullptr) : ended({});
}

outcome batch::complete_and_claim(claim_options const& options, std::unique_ptr<batch>& next) {
  of_->attend_at_times();
  std::lock_guard const lock(guard_);
  if (end_in_doubt_ && !became_) ended({});
  if (became_) {
    if (became_ == outcome::done) next = of_->claim(options);
    return *became_;
  }
  if (goes_together() && !of_->present().in_turns()) return end_together(options, &next);
  auto const holder = of_->holder();
  std::string id;
  std::optional<core::claim_mark> mark;
  taking took;
  auto became = outcome::lost;
  try {
    became = ended([&](db::session& on) {
      id = store::new_id();
      mark.emplace(of_->lease(), id);
      took = {};
      took = of_->take_in(on, id, holder, options);
    });
  } catch (...) {
    if (took.any()) of_->add_orphan(id, holder);
    throw;
  }
  if (became != outcome::done) return became;
  next = of_->taken(std::move(took), id, holder);
  if (next) of_->follow_seen();
  return became;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
