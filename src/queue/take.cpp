// Claiming: due segments become a claim with this process's name on it.
#include "base/uuid.hpp"
#include "queue/batch.hpp"
#include "queue/store.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

constexpr int largest_claim = 10'000;
/// A claim takes no more than what may start within so long: nobody waits with a full hand.
constexpr std::int64_t horizon_us = 1'000'000;

/// The range that covers an id; `ranges` in the order of lo.
segment const& range_of(std::vector<segment> const& ranges, std::int64_t id) {
  auto const above = std::upper_bound(ranges.begin(), ranges.end(), id,
                                      [](std::int64_t at, segment const& s) { return at < s.lo; });
  return *std::prev(above);
}

std::int64_t number_in(db::table const& from, std::size_t column) {
  std::int64_t out = 0;
  decode(from.row(0)[column], out);
  return out;
}

std::vector<segment> ranges_in(db::table const& from) {
  std::vector<segment> out(from.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = segment_of(from.row(i));
  return out;
}

std::int64_t ids_in(std::vector<segment> const& of) {
  std::int64_t sum = 0;
  for (auto const& one : of) sum += one.size();
  return sum;
}

}  // namespace

std::string store::new_id() { return base::new_uuid(); }

void store::renew_within(db::session& on) const {
  if (auto const who = lease_->peek()) static_cast<void>(lease_->renew_within(on, *who));
}

void store::add_orphan(std::string claim, std::string holder) {
  std::lock_guard const lock(guard_);
  orphans_.push_back({std::move(claim), std::move(holder)});
}

/// Locks the queue's row until the transaction ends, so that those who claim take turns.
store::permission store::permitted(db::session& on, row const& here, int limit) const {
  auto const found = db::run(on, with_.sql["queue.throttle"], {here.id, horizon_us});
  if (found.size() == 0) return {};
  auto const now = number_in(found, 0);
  auto const running = number_in(found, 1);
  permission out{limit, 0, 0, number_in(found, 2)};
  if (here.options.running_limit > 0) {
    out.limit = std::clamp<std::int64_t>(here.options.running_limit - running, 0, out.limit);
  }
  if (here.options.rate) {
    out.slot_us = here.options.rate->per.count() / here.options.rate->count;
    out.first_us = out.next_us - now;
    auto const room = now + horizon_us - out.next_us;
    auto const slots = room < 0 ? 0 : room / out.slot_us + 1;
    out.limit = std::min(out.limit, slots);
  }
  return out;
}

std::unique_ptr<batch> store::batch_of(db::table const& found, std::string const& id,
                                       std::string const& holder, std::vector<segment> ranges,
                                       permission const& start) {
  std::sort(ranges.begin(), ranges.end(),
            [](segment const& a, segment const& b) { return a.lo < b.lo; });
  std::vector<task> tasks(found.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    auto& to = tasks[i];
    auto const row = found.row(i);
    decode(row[0], to.id);
    decode(row[1], to.key);
    decode(row[2], to.payload);
    auto const& range = range_of(ranges, to.id);
    to.turn = timestamp(std::chrono::microseconds(range.turn_us));
    to.attempt = range.attempts + 1;
    to.crashes = range.crashes;
    to.priority = range.lane % priorities;
  }
  // They come range by range, and the ranges are in the order of their due times.
  std::sort(tasks.begin(), tasks.end(), [](task const& a, task const& b) { return a.id < b.id; });
  for (std::size_t i = 0; i < tasks.size() && start.slot_us > 0; ++i) {
    tasks[i].slot =
        std::chrono::microseconds(start.first_us + static_cast<std::int64_t>(i) * start.slot_us);
  }
  return std::make_unique<batch>(shared_from_this(), id, holder, std::move(ranges),
                                 std::move(tasks));
}

/// So many are enough, as far as the last claims tell; a few more for those that others have
/// locked.
std::int64_t store::segments_for(std::int64_t limit) const {
  std::lock_guard const lock(guard_);
  auto const wanted = static_cast<double>(limit);
  return static_cast<std::int64_t>(
      std::clamp(std::ceil(wanted / ids_a_segment_ * 1.25), 1.0, wanted));
}

void store::learn(std::vector<segment> const& taken, std::int64_t version) {
  auto const seen = static_cast<double>(ids_in(taken)) / static_cast<double>(taken.size());
  std::lock_guard const lock(guard_);
  // Too many are locked for an instant, too few make a short claim: down at once, up by halves.
  ids_a_segment_ = std::max(1.0, std::min(seen, (ids_a_segment_ + seen) / 2));
  seen_version_ = version;
}

void store::add_taking(std::vector<db::call>& to, std::string const& id, std::string const& holder,
                       int limit) {
  db::add_calls(to, with_.sql["claim.take"],
                {id, present().id, holder, std::int64_t{limit}, segments_for(limit),
                 std::int64_t{0}, std::int64_t{priorities - 1}});
  db::add_calls(to, with_.sql["claim.members"], {id});
}

std::unique_ptr<batch> store::taken(std::span<db::table const> answers, std::string const& id,
                                    std::string const& holder) {
  auto const& found = answers[answers.size() - 2];
  auto ranges = ranges_in(found);
  if (ranges.empty()) return nullptr;
  learn(ranges, number_in(found, 10));
  return batch_of(answers.back(), id, holder, std::move(ranges), {});
}

std::unique_ptr<batch> store::take_in(db::session& on, std::string const& id,
                                      std::string const& holder, int limit, bool suspects) {
  auto const here = present();
  permission start{limit};
  if (here.throttled()) start = permitted(on, here, limit);
  if (start.limit == 0) return nullptr;
  int const first = suspects ? priorities : 0;
  auto const found = db::run(on, with_.sql["claim.take"],
                             {id, here.id, holder, start.limit, segments_for(start.limit),
                              std::int64_t{first}, std::int64_t{first + priorities - 1}});
  if (found.size() == 0) return nullptr;
  auto ranges = ranges_in(found);
  learn(ranges, number_in(found, 10));
  if (start.slot_us > 0) {
    db::run(on, with_.sql["queue.reserve"],
            {here.id, start.next_us + ids_in(ranges) * start.slot_us});
  }
  return batch_of(db::run(on, with_.sql["claim.members"], {id}), id, holder, std::move(ranges),
                  start);
}

std::unique_ptr<batch> store::settle_claim(std::string const& id, std::string const& holder) {
  std::unique_ptr<batch> out;
  core::transact(with_, {.name = "settle_claim", .patience = with_.lease}, [&](db::session& on) {
    out.reset();
    auto const put = db::run(on, with_.sql["claim.settle"], {id, present().id, holder});
    if (put.affected > 0) return core::decision::commit;
    auto const found = db::run(on, with_.sql["claim.look"], {id});
    if (found.size() == 0 || number_in(found, 1) != 0) {
      return core::decision::rollback;
    }
    auto ranges = ranges_in(db::run(on, with_.sql["claim.ranges"], {id}));
    out =
        batch_of(db::run(on, with_.sql["claim.members"], {id}), id, holder, std::move(ranges), {});
    return core::decision::rollback;
  });
  return out;
}

void store::settle_orphans() {
  std::vector<orphan> known;
  {
    std::lock_guard const lock(guard_);
    known.swap(orphans_);
  }
  while (!known.empty()) {
    try {
      // What it finds is handed back as it ends.
      static_cast<void>(settle_claim(known.back().claim, known.back().holder));
      known.pop_back();
    } catch (...) {
      std::lock_guard const lock(guard_);
      orphans_.insert(orphans_.end(), known.begin(), known.end());
      throw;
    }
  }
}

std::unique_ptr<batch> store::try_claim(claim_options const& how) {
  for (;;) {
    auto const who = holder();
    auto const id = new_id();
    std::unique_ptr<batch> out;
    try {
      if (!how.suspects && goes_together() && !present().throttled()) {
        std::vector<db::call> calls;
        add_taking(calls, id, who, how.limit);
        return taken(core::write_together(with_, {.name = "claim", .patience = patience}, calls),
                     id, who);
      }
      core::transact(with_, {.name = "claim", .patience = patience}, [&](db::session& on) {
        if (out) out->forget();
        out = take_in(on, id, who, how.suspects ? 1 : how.limit, how.suspects);
        return out ? core::decision::commit : core::decision::rollback;
      });
      return out;
    } catch (core::lost_reply const&) {
      if (out) out->forget();
      try {
        // None: that claim was never made and never will be, which does not mean that none is due.
        if ((out = settle_claim(id, who))) return out;
      } catch (...) {
        add_orphan(id, who);
        throw;
      }
    } catch (...) {
      if (out) out->forget();
      throw;
    }
  }
}

std::unique_ptr<batch> store::claim(claim_options const& how) {
  with_.check_process();
  if (how.limit < 1 || how.limit > largest_claim) {
    throw error({.kind = fault::bad_argument}, "queue '" + name_ + "': a claim of " +
                                                   std::to_string(how.limit) +
                                                   " tasks: it must be between 1 and 10000");
  }
  settle_orphans();
  follow_seen();
  attend();
  bool reclaimed = false;
  for (;;) {
    auto out = try_claim(how);
    if (out) {
      follow_seen();
      if (!out->tasks().empty()) return out;
      static_cast<void>(out->complete());  // nothing but holes: they are gone now
    } else if (std::exchange(reclaimed, true) || reclaim() == 0) {
      break;
    }
  }
  return nullptr;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
