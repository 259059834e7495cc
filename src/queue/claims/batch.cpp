#include "queue/claims/batch.hpp"

#include "base/digest.hpp"
#include "base/mutant.hpp"
#include "base/rows.hpp"
#include "base/text.hpp"
#include "db/cells.hpp"
#include "queue/claims/share.hpp"
#include "queue/members/series.hpp"
#include "queue/members/segment_text.hpp"

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

verdict verdict_of(result const& result) {
  verdict out;
  switch (result.what()) {
    case result::kind::success: out.what = verdict::kind::success; break;
    case result::kind::failure: out.what = verdict::kind::failure; break;
    case result::kind::snooze: out.what = verdict::kind::snooze; break;
    case result::kind::cancel: out.what = verdict::kind::cancel; break;
    case result::kind::unknown: out.what = verdict::kind::unknown; break;
  }
  out.delay_us = result.length().count();
  if (!result.remark().empty()) out.remark = base::bounded(result.remark(), longest_remark);
  return out;
}

}  // namespace

void add_done(base::rows& rows, task const& task, std::int64_t count, verdict const& verdict) {
  rows.begin()
      .add(task.id)
      .add(task.id + count)
      .add(static_cast<std::int64_t>(state_of(verdict.what)));
  rows.add(std::int64_t{task.attempt}).add(verdict.delay_us).add(std::string_view(verdict.remark));
}

task_state state_of(verdict::kind kind) noexcept {
  switch (kind) {
    case verdict::kind::success: return task_state::succeeded;
    case verdict::kind::failure: return task_state::failed;
    case verdict::kind::cancel: return task_state::discarded;
    case verdict::kind::unknown: return task_state::unknown;
    default: return task_state::waiting;
  }
}

ends text_of(settled settled, policy const& policy) {
  base::rows segments;
  for (auto const& [s, how] : settled.back) {
    segments.begin().add(s.lo).add(s.hi).add(std::int64_t{s.lane});
    segments.add(static_cast<std::int64_t>(s.state)).add(std::int64_t{s.attempts});
    segments.add(std::int64_t{s.crashes}).add(s.turn_us).add(s.period_us);
    segments.add(static_cast<std::int64_t>(how)).add(s.due_us);
  }
  base::rows outcomes;
  for (auto const& t : settled.history) {
    outcomes.begin().add(t.lo).add(t.hi).add(static_cast<std::int64_t>(t.state));
    outcomes.add(std::int64_t{t.attempts}).add(t.turn_us).add(t.finished_us);
    outcomes.add(std::string_view(t.remark));
  }
  ends out{segments.text(), outcomes.text()};
  if (policy.in_order) out.over = over_in(settled.back);
  out.failed = std::move(settled.failed);
  return out;
}

void tell(store const& store, last_failure const& failure, std::string_view key) noexcept {
  task_event const event{store.name(), key, failure.attempts, failure.crashes, failure.remark};
  auto& watch = store.with().watch;
  if (failure.state == task_state::unknown) return watch.task_unknown(event);
  if (failure.state == task_state::dead) return watch.task_dead(event);
  watch.task_failed(event);
}

batch::batch(std::shared_ptr<store> store, std::string id, std::string holder,
             std::vector<segment> ranges, std::vector<task> tasks)
    : store_(std::move(store)),
      id_(std::move(id)),
      holder_(std::move(holder)),
      mark_(std::in_place, store_->lease(), id_),
      ranges_(std::move(ranges)),
      tasks_(std::move(tasks)),
      standings_(tasks_.size(), standing::open),
      verdicts_(tasks_.size()),
      doubtful_(tasks_.size()) {}

batch::~batch() {
  if (over_ || store_->with().forked()) return;
  try {
    complete();
  } catch (std::exception const& e) {
    store_->with().watch.retried("complete", e.what());
    store_->add_orphan(id_, holder_, orphaned::in_work);
  }
}

// With the id: a key that was removed and comes again in the same grain has the same turn.
std::string batch::idempotency_key(task const& task) const {
  return base::digest({store_->with().book_id, "queue", store_->name(), task.key,
                       std::to_string(task.id), std::to_string(db::us_of(task.turn))});
}

std::size_t batch::position(task const& wanted) const {
  // Most claims are of neighbours: the distance of the ids is the one in here.
  if (!tasks_.empty() && wanted.id >= tasks_.front().id) {
    auto const guess = static_cast<std::size_t>(wanted.id - tasks_.front().id);
    if (guess < tasks_.size() && tasks_[guess].id == wanted.id) return guess;
  }
  auto const found = std::lower_bound(tasks_.begin(), tasks_.end(), wanted.id,
                                      [](task const& t, std::int64_t id) { return t.id < id; });
  if (found == tasks_.end() || found->id != wanted.id) {
    throw error({.kind = error_code::bad_argument},
                "the task '" + wanted.key + "' is not one of this claim of queue '" +
                    store_->name() + "': a result is given to the claim that the task came with");
  }
  return static_cast<std::size_t>(found - tasks_.begin());
}

std::size_t batch::open_position(task const& task) const {
  auto const at = position(task);
  if (over_) {
    throw error({.kind = error_code::bad_argument},
                "the task '" + task.key + "' is finished after its claim was completed");
  }
  if (standings_[at] != standing::open) {
    throw error({.kind = error_code::bad_argument}, "the task '" + task.key + "' of queue '" +
                                                        store_->name() + "' is finished already");
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
    one.start_delay =
        std::chrono::microseconds(std::max<std::int64_t>(0, slot));  // it may be saved up
  }
}

void batch::finish(task const& task, result result) {
  std::lock_guard const lock(guard_);
  auto const at = open_position(task);
  verdicts_[at] = verdict_of(result);
  if (verdicts_[at].what == verdict::kind::failure) {
    verdicts_[at].delay_us =
        backoff_us(store_->present().by, task.id, db::us_of(tasks_[at].turn), task.attempt);
  }
  standings_[at] = standing::noted;
}

bool batch::write_done(db::session& session, std::string const& rows, std::int64_t count) const {
  return db::run(session, store_->with().sql["claim.done"], {id_, holder_, rows}).affected == count;
}

outcome batch::perform(std::span<task const* const> tasks,
                       std::function<void(transaction&)> const& body) {
  share mine(*this, tasks);
  return queues::perform(std::span(&mine, 1), body);
}

bool batch::finish_in(db::session& yours, std::span<task const* const> tasks) {
  share mine(*this, tasks);
  if (!mine.write(yours)) return false;
  mine.leave();
  return true;
}

bool batch::flush() {
  auto const& with = store_->with();
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
      core::transact(with, core::for_a_lease(with, "flush"), [&](db::session& session) {
        std::vector<char> there(tasks_.size());
        if (in_doubt) {
          held = lock_claim(session);
          if (!held) return core::decision::rollback;
          there = in_ledger(session);
        }
        base::rows done;
        std::int64_t count = 0;
        for (auto const i : noted) {
          if (there[i] != 0) continue;
          add_done(done, tasks_[i], 1, verdicts_[i]);
          ++count;
        }
        if (count == 0) return core::decision::rollback;
        held = write_done(session, done.text(), count);
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
  core::read(store_->with(), store_->with().lease, [&](db::session& session) {
    for (auto const& one : ledger_of(store_->with(), session, id_).ended)
      in_ledger -= one.hi - one.lo;
  });
  return in_ledger == 0;
}

void batch::doubt(std::span<std::size_t const> positions) noexcept {
  std::lock_guard const lock(guard_);
  for (auto const at : positions) doubtful_[at] = 1;
}

/// Whether it is ours. It waits for transactions that write into its ledger, and then what they
/// wrote is there or never will be.
bool batch::lock_claim(db::session& session) const {
  return db::run(session, store_->with().sql["claim.lock"], {id_, holder_}).size() > 0;
}

std::vector<char> batch::in_ledger(db::session& session) const {
  std::vector<char> out(tasks_.size());
  for (auto const& entry : ledger_of(store_->with(), session, id_).ended) {
    for (auto id = entry.lo; id < entry.hi; ++id) out[position({.id = id})] = 1;
  }
  return out;
}

void batch::read_ledger(db::session& session) {
  // What we believe to be there may have been rolled back by whoever it belongs to.
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (standings_[i] == standing::in_ledger) verdicts_[i] = {};
  }
  for (auto const& entry : ledger_of(store_->with(), session, id_).ended) {
    for (auto id = entry.lo; id < entry.hi; ++id) verdicts_[position({.id = id})] = entry.how;
  }
}

settled batch::settle_all(policy const& policy) const {
  std::vector<ending> endings(tasks_.size());
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    bool const open = verdicts_[i].what == verdict::kind::none;
    endings[i] = {tasks_[i].id, open ? nullptr : &verdicts_[i]};
  }
  return settle(policy, ranges_, endings, unfinished::handed_back);
}

batch::end batch::end_in(db::session& session, policy const& policy, ends& ending) {
  auto const& with = store_->with();
  if (ledger_used_) {
    if (!lock_claim(session)) return end::gone;
    read_ledger(session);
    db::run(session, with.sql["claim.forget_done"], {id_});
    ending = text_of(settle_all(policy), policy);
  }
  auto const ended = db::run(session, with.sql["claim.complete"],
                             {id_, holder_, ending.segments, ending.outcomes,
                              std::int64_t{policy.record_every_outcome ? 1 : 0}});
  if (!ended.something()) return end::gone;
  if (policy.in_order) end_series(with, session, ending.over);
  return end::ours;
}

void batch::tell(ends const& ending) const noexcept {
  if (became_ != outcome::done) return;
  for (auto const& one : ending.failed)
    queues::tell(*store_, one, tasks_[position({.id = one.id})].key);
}

/// After a COMMIT with a lost reply: a claim that is not there was ended by us, as long as one that
/// was taken back would have its tombstone.
outcome batch::what_became() {
  auto out = outcome::lost;
  auto const& with = store_->with();
  core::read(with, with.lease, [&](db::session& session) {
    out = outcome::lost;
    if (db::run(session, with.sql["claim.look"], {id_}).size() > 0) return;
    auto const known = db::run(session, with.sql["claim.is_known"], {holder_, tombstone_us});
    out = known.size() > 0 ? outcome::done : outcome::unknown;
  });
  if (out == outcome::done) core::confirm_seen(with);
  return out;
}

outcome batch::ended(std::function<void(db::session&)> const& and_then) {
  auto const& with = store_->with();
  with.check_process();
  auto const by = store_->present().by;
  ends ending;
  // Before the transaction begins: where writers take turns, they wait for no more than they must.
  if (!ledger_used_) ending = text_of(settle_all(by), by);
  for (;;) {
    try {
      auto const decided =
          core::transact(with, core::for_a_lease(with, "complete"), [&](db::session& session) {
            if (end_in(session, by, ending) == end::gone) return core::decision::rollback;
            if (and_then) and_then(session);
            if (with.dialect.one_writer || with.borrowed) store_->renew_within(session);
            return core::decision::commit;
          });
      over_ = true;
      mark_.reset();
      if (decided == core::decision::commit) {
        became_ = outcome::done;
      } else {
        became_ = end_in_doubt_ ? what_became() : outcome::lost;
      }
      tell(ending);
      return *became_;
    } catch (core::lost_reply const&) {
      end_in_doubt_ = true;
    }
  }
}

bool batch::goes_together() const {
  return store_->goes_together() && !ledger_used_ && !end_in_doubt_ &&
         !store_->present().by.in_order;
}

outcome batch::end_together(claim_options const& options, std::unique_ptr<batch>* next) {
  auto const& with = store_->with();
  with.check_process();
  auto const by = store_->present().by;
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
    mark.emplace(store_->lease(), id);
    holder = store_->holder();
    store_->add_taking(calls, id, holder, options);
  }
  try {
    auto answers = core::write_together(with, core::for_a_lease(with, "complete"), calls);
    over_ = true;
    mark_.reset();
    became_ = answers[fence].something() ? outcome::done : outcome::lost;
    tell(texts);
    if (next != nullptr) {
      *next = store_->taken(store::answered(std::span(answers).subspan(fence + 1), options), id,
                            holder);
      store_->follow_seen();
    }
    return *became_;
  } catch (core::lost_reply const&) {
    // Both are there, or neither.
    end_in_doubt_ = true;
    try {
      auto const became = ended({});
      if (next == nullptr || (*next = store_->settle_claim(id, holder))) return became;
      // That claim never will be made, which does not mean that nothing is due.
      if (became == outcome::done) *next = store_->try_claim(options);
      return became;
    } catch (...) {
      if (next != nullptr) store_->add_orphan(id, holder);
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
  store_->attend_at_times();
  std::lock_guard const lock(guard_);
  if (end_in_doubt_ && !became_) ended({});
  if (became_) {
    if (became_ == outcome::done) next = store_->claim(options);
    return *became_;
  }
  if (goes_together() && !store_->present().in_turns()) return end_together(options, &next);
  auto const holder = store_->holder();
  std::string id;
  std::optional<core::claim_mark> mark;
  taking took;
  auto became = outcome::lost;
  try {
    became = ended([&](db::session& session) {
      id = store::new_id();
      mark.emplace(store_->lease(), id);
      took = {};
      took = store_->take_in(session, id, holder, options);
    });
  } catch (...) {
    if (took.any()) store_->add_orphan(id, holder);
    throw;
  }
  if (became != outcome::done) return became;
  next = store_->taken(std::move(took), id, holder);
  if (next) store_->follow_seen();
  return became;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
