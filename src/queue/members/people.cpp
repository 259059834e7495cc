#include "queue/members/people.hpp"

#include "base/limits.hpp"
#include "base/text.hpp"
#include "core/admin/operate.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"
#include "queue/members/segment_text.hpp"

#include <daybook/error.hpp>
#include <daybook/names.hpp>
#include <daybook/words.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

/// Segments whose tasks are asked for in one transaction: up to so many thousand rows.
constexpr std::int64_t segments_a_change = 10;

/// Under which process the changes of a queue stand, so that no run's are mixed with them.
std::string process_of(std::string_view queue) {
  return base::bounded("queue:" + std::string(queue), longest_name);
}
std::string process_of(store const& store) { return process_of(store.name()); }

std::string_view action_of(task_request request) noexcept {
  bool const settles = request == task_request::was_done || request == task_request::was_not_done;
  return settles ? "resolve" : word_of(request);
}

/// The request, and an id: the same for no two requests, so that one whose reply was lost finds
/// its own row again.
std::string detail_of(task_request request) {
  std::string_view how;
  if (request == task_request::was_done) how = "done; ";
  if (request == task_request::was_not_done) how = "not done; ";
  return std::string(how) + "request " + store::new_id();
}

/// False: it is there already.
bool write_down(db::session& session, core::change const& change, std::string_view detail) {
  return db::run(session, change.with.sql["operate.change_once"],
                 {change.process, change.key, change.by.actor, change.action, change.by.reason,
                  detail, change.by.request_value(), std::int64_t{0}})
             .affected > 0;
}

task_outcome outcome_of(std::span<cell const> row) {
  task_outcome out;
  std::int64_t state = 0;
  std::int64_t attempts = 0;
  decode(row[0], state);
  decode(row[1], attempts);
  out.state = static_cast<task_state>(state);
  out.attempts = static_cast<int>(attempts);
  out.turn = db::time_in(row[2]).value_or(timestamp{});
  out.started = db::time_in(row[3]);
  out.finished = db::time_in(row[4]);
  decode(row[5], out.claim);
  decode(row[6], out.remark);
  return out;
}

/// A few segments of a state, from `after` on, which is moved on; -1: there are no more.
std::int64_t put_requests_of_piece(store const& store, db::session& session, task_state state,
                                   task_request request, std::int64_t& after) {
  auto const queue = store.present().id;
  auto const found =
      db::run(session, store.with().sql["segment.of_state"],
              {queue, static_cast<std::int64_t>(state), std::int64_t{after}, segments_a_change});
  after = -1;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto const range = segment_of(found.row(i));
    count += db::run(session, store.with().sql["request.put_range"],
                     {queue, range.lo, range.hi, static_cast<std::int64_t>(request)})
                 .affected;
    if (std::cmp_equal(found.size(), segments_a_change)) after = range.hi;
  }
  return count;
}

}  // namespace

bool put_request(store const& store, key const& key, task_request request, audit_note const& note) {
  store.with().check_process();
  auto const process = process_of(store);
  auto const detail = detail_of(request);
  core::change const change{store.with(), process, key.str(), action_of(request),
                            core::bounded_remark(note)};
  // Once more, what is written down was asked for.
  bool const there = core::insist([&] {
    bool before = false;
    auto const decided = core::transact(store.with(), {.name = "ask"}, [&](db::session& session) {
      before = !write_down(session, change, detail);
      if (before) return core::decision::rollback;
      return db::run(session, store.with().sql["request.put"],
                     {store.present().id, key.str(), static_cast<std::int64_t>(request),
                      std::int64_t{0}})
                         .affected > 0
                 ? core::decision::commit
                 : core::decision::rollback;
    });
    if (before) core::confirm_seen(store.with());
    return before || decided == core::decision::commit;
  });
  store.ring();
  return there;
}

bool put_priority(store const& store, key const& task, int priority, audit_note const* note) {
  store.with().check_process();
  base::limits("queue", store.name()).between("the priority", priority, 0, priorities - 1);
  if (store.present().by.in_order) {
    throw error({.kind = error_code::bad_argument},
                "queue '" + store.name() +
                    "': a priority, where tasks are done in the order in which they were added "
                    "(in_order)");
  }
  auto const put = [&](db::session& session) {
    return db::run(session, store.with().sql["request.put_priority"],
                   {store.present().id, task.str(), std::int64_t{priority}})
               .affected > 0;
  };
  if (note != nullptr) {
    auto const process = process_of(store);
    return core::make({store.with(), process, task.str(), "priority", core::bounded_remark(*note)},
                      std::to_string(priority) + "; request " + store::new_id(), put);
  }
  return store.do_once("ask", put);
}

std::int64_t in_front(store const& store, key const& task) {
  auto const found = store.find(task);
  if (!found) return 0;
  std::int64_t out = 0;
  core::read(store.with(), [&](db::session& session) {
    decode(db::run(session, store.with().sql["task.in_front"],
                   {store.present().id, std::int64_t{found->priority}, found->id})
               .row(0)[0],
           out);
  });
  return out;
}

std::int64_t put_requests(store const& store, task_state state, task_request request,
                          audit_note const& note,
                          std::function<void(std::int64_t)> const& on_progress) {
  store.with().check_process();
  if (state == task_state::running) {
    throw error({.kind = error_code::bad_argument},
                "queue '" + store.name() + "': tasks in hand are asked for by their keys");
  }
  auto const process = process_of(store);
  std::string const key;
  auto const detail = "all that are " + std::string(word_of(state)) + "; " + detail_of(request);
  core::change const change{store.with(), process, key, action_of(request),
                            core::bounded_remark(note)};
  std::int64_t sum = 0;
  std::int64_t after = 0;
  while (after >= 0) {
    auto const from = after;
    std::int64_t count = 0;
    store.do_once("ask", [&](db::session& session) {
      after = from;
      count = put_requests_of_piece(store, session, state, request, after);
      if (count > 0) write_down(session, change, detail);
      return count > 0;
    });
    sum += count;
    store.ring();
    if (on_progress) on_progress(sum);
  }
  return sum;
}

bool remove(store& store, key const& key, audit_note const& note) {
  auto const found = store.find(key);
  if (!found) return false;
  auto const process = process_of(store);
  return core::make({store.with(), process, key.str(), "remove", core::bounded_remark(note)},
                    "task " + std::to_string(found->id),
                    [&](db::session& session) { return store.remove_in(session, key); });
}

bool pause(store const& store, bool paused, audit_note const& note) {
  store.with().check_process();
  auto const process = process_of(store);
  std::string const key;
  auto const seen = look(store.with(), store.name()).value_or(store.present());
  bool const changed = core::make(
      {store.with(), process, key, paused ? "pause" : "resume", core::bounded_remark(note)},
      "version " + std::to_string(seen.version), [&](db::session& session) {
        return db::run(session, store.with().sql["queue.pause"],
                       {seen.id, std::int64_t{paused ? 1 : 0}})
                   .affected == 1;
      });
  store.ring();
  return changed;
}

void write_down(core::context const& context, std::string_view queue, std::string_view action,
                std::string const& subject, audit_note const& note,
                std::function<void(db::session&)> const& act) {
  context.check_process();
  auto const process = process_of(queue);
  std::string const key;
  auto const detail = subject + "; " + store::new_id();
  core::change const change{context, process, key, action, core::bounded_remark(note)};
  // Once more, a detail is written down once.
  core::insist([&] {
    core::transact(context, {.name = "operate"}, [&](db::session& session) {
      act(session);
      write_down(session, change, detail);
      return core::decision::commit;
    });
  });
}

std::vector<task_outcome> outcomes(store const& store, key const& key, int limit) {
  store.with().check_process();
  base::limits("queue", store.name()).between("the number of outcomes (limit)", limit, 1, 10'000);
  std::vector<task_outcome> out;
  core::read(store.with(), [&](db::session& session) {
    out.clear();
    auto const member =
        db::run(session, store.with().sql["member.find"], {store.present().id, key.str()});
    if (member.size() == 0) return;
    std::int64_t id = 0;
    decode(member.row(0)[0], id);
    // Of two rows of a claim the first is its own; the other stands for its neighbours.
    auto const found = db::run(session, store.with().sql["task.outcomes"],
                               {store.present().id, id, std::int64_t{limit} * 2});
    std::set<std::string> claims;
    for (std::size_t i = 0; i < found.size() && std::cmp_less(out.size(), limit); ++i) {
      auto one = outcome_of(found.row(i));
      if (claims.insert(one.claim).second) out.push_back(std::move(one));
    }
  });
  return out;
}

std::vector<change_info> changes(store const& store, std::string_view key) {
  store.with().check_process();
  return core::list_changes(store.with(), process_of(store), key);
}

queue_info info(store const& store) {
  store.with().check_process();
  auto const found = look(store.with(), store.name()).value_or(store.present());
  queue_info out{store.name(), found.options, found.paused, {}};
  if (found.round_us) out.round = db::time_of(*found.round_us);
  return out;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
