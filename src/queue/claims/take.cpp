// Claiming: due segments become a claim with this process's name on it.
#include "base/failpoint.hpp"
#include "base/limits.hpp"
#include "base/mutant.hpp"
#include "base/uuid.hpp"
#include "queue/claims/batch.hpp"
#include "queue/members/series.hpp"
#include "queue/members/segment_text.hpp"
#include "queue/members/store.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

constexpr int largest_claim = 10'000;
/// A claim takes no more than what may start within so long: nobody waits with a full hand.
constexpr std::int64_t horizon_us = 1'000'000;
/// Where others have all that is due locked, for an instant: each pause is twice the one before.
constexpr std::chrono::milliseconds first_pause{1};
constexpr std::chrono::milliseconds longest_lock_pause{128};

std::int64_t number_in(db::table const& table, std::size_t column) {
  std::int64_t out = 0;
  decode(table.row(0)[column], out);
  return out;
}

/// The ids of a claim that is there, by its ranges: the row that has no id.
std::int64_t ids_taken(db::table const& found) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto const row = found.row(i);
    if (std::holds_alternative<std::nullptr_t>(row[0])) {
      sum += ids_in(ranges_of(std::get<std::string>(row[1])));
    }
  }
  return sum;
}

}  // namespace

std::string store::new_id() { return base::new_uuid(); }

void store::renew_within(db::session& session) const {
  if (auto const who = lease_->peek()) static_cast<void>(lease_->renew_within(session, *who));
}

void store::add_orphan(std::string claim, std::string holder, orphaned when) {
  auto mark = std::make_shared<core::claim_mark>(*lease_, claim);
  std::lock_guard const lock(guard_);
  orphans_.push_back({std::move(claim), std::move(holder), when, std::move(mark)});
}

/// Locks the queue's row until the transaction ends, so that those who claim take turns.
store::permission store::permitted(db::session& session, row const& here, int limit) const {
  db::run(session, context_.sql["queue.turn"], {here.id});
  auto const found = db::run(session, context_.sql["queue.throttle"], {here.id});
  if (found.size() == 0) return {};
  auto const now = number_in(found, 0);
  auto const running = number_in(found, 1);
  permission out{limit};
  if (here.options.running_limit > 0) {
    out.limit = std::clamp<std::int64_t>(here.options.running_limit - running, 0, out.limit);
  }
  if (here.options.rate) {
    out.slot_us = here.options.rate->per.count() / here.options.rate->count;
    out.next_us = std::max(number_in(found, 2), now - (here.options.burst - 1) * out.slot_us);
    // Nobody has reserved so far ahead, at this rate and by this clock: one of them was another.
    if (out.next_us > now + horizon_us + out.slot_us) out.next_us = now;
    out.first_us = out.next_us - now;
    auto const room = now + horizon_us - out.next_us;
    auto const slots = room < 0 ? 0 : room / out.slot_us + 1;
    out.limit = std::min(out.limit, slots);
  }
  return out;
}

std::unique_ptr<batch> store::batch_of(db::table found, std::string const& id,
                                       std::string const& holder) {
  std::vector<segment> ranges;
  std::vector<task> tasks;
  tasks.reserve(found.size());
  std::int64_t version = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto const row = std::span(found.cells).subspan(i * found.width, found.width);
    auto& text = std::get<std::string>(row[1]);
    if (auto const* task_id = std::get_if<std::int64_t>(&row[0])) {
      auto& to = tasks.emplace_back();
      to.id = *task_id;
      to.key = std::move(text);
      if (auto* const payload = std::get_if<std::string>(&row[2])) {
        to.payload = std::move(*payload);
      }
    } else {
      ranges = ranges_of(text);
      // A text: the column is that of the payloads.
      decode(row[2], version);
    }
  }
  if (ranges.empty()) return nullptr;
  learn(ids_in(ranges), ranges.size(), version);
  // They come range by range, and the ranges are in the order of their due times.
  auto const earlier = [](task const& a, task const& b) { return a.id < b.id; };
  if (!std::is_sorted(tasks.begin(), tasks.end(), earlier)) {
    std::sort(tasks.begin(), tasks.end(), earlier);
  }
  auto range = ranges.begin();
  for (auto& to : tasks) {
    while (range->hi <= to.id) ++range;
    to.turn = timestamp(std::chrono::microseconds(range->turn_us));
    to.attempt = range->attempts + 1;
    to.crashes = range->crashes;
    to.priority = range->lane % priorities;
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

void store::learn(std::int64_t ids, std::size_t segments, std::int64_t version) {
  auto const seen = static_cast<double>(ids) / static_cast<double>(segments);
  std::lock_guard const lock(guard_);
  // Too many are locked for an instant, too few make a short claim: down at once, up by halves.
  ids_a_segment_ = std::max(1.0, std::min(seen, (ids_a_segment_ + seen) / 2));
  seen_version_ = version;
}

search store::add_taking(std::vector<db::call>& calls, std::string const& id,
                         std::string const& holder, claim_options const& options) {
  std::int64_t const limit = options.limit;
  search const out{.segments = segments_for(limit), .limit = limit};
  db::add_calls(calls, context_.sql["claim.take"],
                {id, present().id, holder, limit, out.segments, std::int64_t{0}});
  if (options.beginning == beginning::with_claim) return out;
  static std::string const rows = nothing_begun();  // where there is no claim, it writes nothing
  db::add_calls(calls, context_.sql["claim.done"], {id, holder, rows});
  return out;
}

taking store::answered(std::span<db::table> answers, claim_options const& options) {
  bool const announced = options.beginning == beginning::announced;
  return {.found = db::gathered(announced ? answers.first(answers.size() - 1) : answers),
          .announced = announced};
}

std::unique_ptr<batch> store::taken(taking taking, std::string const& id,
                                    std::string const& holder) {
  if (!taking.any()) return nullptr;
  try {
    // Where writers take turns, the tasks are read when the turn is another's.
    if (context_.dialect.one_writer) {
      core::read(context_, [&](db::session& session) {
        auto tasks = db::run(session, context_.sql["claim.tasks"], {id});
        // Not one: it was taken back meanwhile, and goes on as a claim without tasks.
        if (tasks.size() > 1) taking.found = std::move(tasks);
      });
    }
    auto out = batch_of(std::move(taking.found), id, holder);
    if (taking.slot_us > 0) out->space_starts(taking.first_us, taking.slot_us);
    if (taking.announced) out->announce();
    static_cast<void>(base::hit_failpoint("claim.taken"));  // there is nothing to cut
    return out;
  } catch (...) {
    add_orphan(id, holder);
    throw;
  }
}

taking store::take_in(db::session& session, std::string const& id, std::string const& holder,
                      claim_options const& options) {
  auto const here = present();
  int const limit = options.quarantined ? 1 : options.limit;
  permission start{limit};
  if (here.in_turns()) start = permitted(session, here, limit);
  if (start.limit == 0) return {};
  int const first = options.quarantined ? priorities : 0;
  taking out{.first_us = start.first_us,
             .slot_us = start.slot_us,
             .announced = options.beginning == beginning::announced};
  if (here.by.in_order && !base::left_out("series")) {
    auto const heads =
        heads_of(context_, session, here.id, first + task_options{}.priority, start.limit);
    db::run(session, context_.sql["series.take"], {id, here.id, holder, heads});
    out.found = db::run(session, context_.sql["claim.tasks"], {id});
  } else {
    auto const segments = segments_for(start.limit);
    // With a rate it stays as it is: its starts are reserved.
    if (start.slot_us == 0) out.looked = {.segments = segments, .limit = start.limit};
    out.found = db::run(session, context_.sql["claim.take"],
                        {id, here.id, holder, start.limit, segments, std::int64_t{first}});
  }
  if (out.any() && start.slot_us > 0) {
    auto const until = start.next_us + ids_taken(out.found) * start.slot_us;
    db::run(session, context_.sql["queue.reserve"], {here.id, until});
  }
  if (out.any() && out.announced) {
    db::run(session, context_.sql["claim.done"], {id, holder, nothing_begun()});
  }
  return out;
}

std::unique_ptr<batch> store::settle_claim(std::string const& id, std::string const& holder) {
  std::unique_ptr<batch> out;
  core::transact(
      context_, {.name = "settle_claim", .patience = context_.lease}, [&](db::session& session) {
        out.reset();
        auto const put = db::run(session, context_.sql["claim.settle"], {id, present().id, holder});
        if (put.affected > 0) return core::decision::commit;
        auto const found = db::run(session, context_.sql["claim.look"], {id});
        if (found.size() == 0 || number_in(found, 0) != 0) {
          return core::decision::rollback;
        }
        out = batch_of(db::run(session, context_.sql["claim.tasks"], {id}), id, holder);
        if (out) out->read(ledger_of(context_, session, id));
        if (auto const here = present(); out && here.options.rate) {
          // Its starts are reserved; others may have reserved after it.
          auto const start = permitted(session, here, 1);
          auto const own = out->size() * start.slot_us;
          out->space_starts(std::max<std::int64_t>(0, start.first_us - own), start.slot_us);
        }
        return core::decision::rollback;
      });
  return out;
}

/// What it finds is handed back. Where nothing may be begun twice, what was begun and is not in the
/// ledger is unknown.
void store::settle_orphan(orphan const& one) {
  auto const left = settle_claim(one.claim, one.holder);
  if (!left) return;
  if (one.when == orphaned::in_work && present().by.mode == step_mode::at_most_once) {
    for (auto const& task : left->tasks()) {
      if (!left->has_begun(task)) continue;
      left->finish(task, result::unknown("the database could not be told how it ended"));
    }
  }
  try {
    static_cast<void>(left->complete());
  } catch (...) {
    left->forget();  // still the orphan that it was, and no second one
    throw;
  }
}

void store::settle_orphans() {
  std::vector<orphan> known;
  {
    std::lock_guard const lock(guard_);
    known.swap(orphans_);
  }
  while (!known.empty()) {
    try {
      settle_orphan(known.back());
      known.pop_back();
    } catch (...) {
      std::lock_guard const lock(guard_);
      orphans_.insert(orphans_.end(), known.begin(), known.end());
      throw;
    }
  }
}

std::unique_ptr<batch> store::try_claim(claim_options const& options) {
  for (bool again = false;;) {
    auto const who = holder();
    auto const id = new_id();
    core::claim_mark const mark(*lease_, id);
    taking took;
    try {
      if (!options.quarantined && goes_together() && !present().in_turns()) {
        std::vector<db::call> calls;
        auto const looked = add_taking(calls, id, who, options);
        auto answers = core::write_together(context_, {.name = "claim"}, calls);
        took = answered(answers, options);
        took.looked = looked;
      } else {
        core::transact(context_, {.name = "claim"}, [&](db::session& session) {
          took = {};
          took = take_in(session, id, who, options);
          return took.any() ? core::decision::commit : core::decision::rollback;
        });
      }
    } catch (core::lost_reply const&) {
      try {
        // None: that claim was never made and never will be, which does not mean that none is due.
        if (auto out = settle_claim(id, who)) return out;
        continue;
      } catch (...) {
        add_orphan(id, who);
        throw;
      }
    }
    auto const looked = took.looked;
    auto out = taken(std::move(took), id, who);
    // Once more: by now it is known how short the segments are.
    if (!out || !looked.fell_short(out->segments(), out->size()) || std::exchange(again, true))
      return out;
    static_cast<void>(out->complete());
  }
}

/// After a claim that found nothing: whether something is due all the same. Where those who claim
/// take turns, something may be due that must not begin.
bool store::others_lock_it(bool suspects) const {
  if (context_.dialect.one_writer || present().in_turns()) return false;
  bool due = false;
  core::read(context_, [&](db::session& session) {
    auto const lane = std::int64_t{suspects ? priorities : 0};
    decode(db::run(session, context_.sql["claim.due"], {present().id, lane}).row(0)[0], due);
  });
  return due;
}

std::unique_ptr<batch> store::claim(claim_options const& options) {
  context_.check_process();
  base::limits("queue", name_)
      .between("the number of tasks (limit)", options.limit, 1, largest_claim);
  settle_orphans();
  follow_seen();
  attend();
  bool reclaimed = false;
  auto pause = first_pause;
  for (;;) {
    auto out = try_claim(options);
    if (out) {
      follow_seen();
      if (!out->tasks().empty()) return out;
      static_cast<void>(out->complete());  // nothing but holes: they are gone now
    } else if (!lease_->drop_if_dead() && (std::exchange(reclaimed, true) || reclaim() == 0)) {
      if (pause > longest_lock_pause || !others_lock_it(options.quarantined)) break;
      std::this_thread::sleep_for(std::exchange(pause, pause * 2));
    }
  }
  return nullptr;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
