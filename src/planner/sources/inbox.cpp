// The events of an inbox: each ends in the transaction that launches its task, or refuses it.
#include "base/mutant.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"
#include "planner/strategy.hpp"
#include "queue/claims/batch.hpp"
#include "queue/claims/share.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace planners {

namespace {

/// Thrown within a page's transaction: others have the events by now.
struct claim_lost {};

/// An event's own fault, which those beside it need not share.
bool is_of_one(error const& e) {
  return e.kind() == error_code::bad_argument || e.kind() == error_code::statement ||
         e.kind() == error_code::constraint;
}

queues::verdict end_of(decision const& decision) {
  using kind = queues::verdict::kind;
  queues::verdict out;
  out.what = decision.what == decision::kind::refuse ? kind::cancel : kind::success;
  out.remark =
      decision.what == decision::kind::pass_over ? "its task was launched before" : decision.why;
  return out;
}

/// Some of a batch, or of the events that a preview looks at.
using some = std::span<task const* const>;

std::vector<candidate> candidates_of(some events) {
  std::vector<candidate> out;
  out.reserve(events.size());
  for (auto const* const one : events) out.push_back({key(one->key), one->payload});
  return out;
}

std::vector<task const*> all_of(std::span<task const> events) {
  std::vector<task const*> out;
  out.reserve(events.size());
  for (auto const& one : events) out.push_back(&one);
  return out;
}

/// Takes them together, and where that fails, by halves: one whose check throws stops no other.
/// False: asked to stop.
bool take_all(some events, std::function<bool(some)> const& take,
              std::function<void(task const&, std::string_view why)> const& fail) {
  try {
    return take(events);
  } catch (error const& e) {
    if (!is_of_one(e)) throw;
    if (events.size() == 1) {
      fail(*events.front(), e.what());
      return true;
    }
  }
  auto const half = events.size() / 2;
  return take_all(events.first(half), take, fail) && take_all(events.subspan(half), take, fail);
}

bool launch(queues::batch& batch, sink& sink) {
  auto const take = [&](some events) {
    queues::share ends(batch, events);
    auto const end = [&](db::session& session, std::span<decision const> decisions) {
      std::vector<queues::verdict> verdicts(decisions.size());
      std::transform(decisions.begin(), decisions.end(), verdicts.begin(), end_of);
      if (!ends.write(session, verdicts)) throw claim_lost{};
    };
    bool const more = sink.take(
        candidates_of(events), [&](db::session& session, std::span<decision const> decisions) {
          if (!base::left_out("inbox_together")) return end(session, decisions);
          core::transact(batch.of().with(), {.name = "apart"}, [&](db::session& apart) {
            end(apart, decisions);
            return core::decision::commit;
          });
        });
    ends.keep();
    return more;
  };
  auto const fail = [&](task const& one, std::string_view why) {
    batch.finish(one, result::failure(std::string(why)));
    sink.fail(one.key, why);
  };
  try {
    return take_all(all_of(batch.tasks()), take, fail);
  } catch (claim_lost const&) {
    return true;  // whoever has them now goes on with them
  }
}

/// Those that are due, as they are now: a preview takes nothing.
bool look(store const& store, queues::store const& owner, sink& sink) {
  auto const page = store.declared().options.page;
  auto const fail = [&](task const& one, std::string_view why) { sink.fail(one.key, why); };
  for (auto const state : {task_state::waiting, task_state::quarantined}) {
    tasks_query query{.state = state, .limit = page};
    for (bool more = true; more;) {
      auto const now_us = owner.now_us();
      auto const found = owner.tasks(query);
      more = std::cmp_equal(found.size(), page);
      std::vector<task> due;
      for (auto const& one : found) {
        query.after = one.id;
        if (!one.due || db::us_of(*one.due) > now_us) continue;
        due.push_back({.id = one.id, .key = one.key, .payload = one.payload});
      }
      if (due.empty()) continue;
      auto const take = [&](some events) { return sink.take(candidates_of(events)); };
      if (!take_all(all_of(due), take, fail)) return false;
    }
  }
  return true;
}

}  // namespace

bool feed(store const& store, inbox_strategy const& strategy, sink& sink) {
  auto const from = store.from(strategy.from);
  if (!from)
    bad(store.declared().name, "the queue '" + strategy.from + "' with its events is gone");
  if (sink.only_looks()) return look(store, *from, sink);
  claim_options const page{.limit = store.declared().options.page};
  for (;;) {
    auto batch = from->claim(page);
    // One that may have ended its worker is taken alone.
    if (!batch) batch = from->claim({.quarantined = true});
    if (!batch) return true;
    bool const more = launch(*batch, sink);
    static_cast<void>(batch->complete());  // lost: the launched have ended all the same
    if (!more) return false;
  }
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
