#include "queue/members/people.hpp"

#include "base/limits.hpp"
#include "base/text.hpp"
#include "core/admin/operate.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"

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
std::string process_of(store const& in) { return process_of(in.name()); }

std::string_view action_of(task_request what) noexcept {
  bool const settles = what == task_request::was_done || what == task_request::was_not_done;
  return settles ? "resolve" : word_of(what);
}

/// `what` it was, and an id: the same for no two requests, so that one whose reply was lost finds
/// its own row again.
std::string detail_of(task_request what) {
  std::string_view how;
  if (what == task_request::was_done) how = "done; ";
  if (what == task_request::was_not_done) how = "not done; ";
  return std::string(how) + "request " + store::new_id();
}

/// False: it is there already.
bool write_down(db::session& on, core::change const& what, std::string_view detail) {
  return db::run(on, what.with.sql["operate.change_once"],
                 {what.process, what.key, what.by.actor, what.action, what.by.reason, detail,
                  std::int64_t{0}})
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
std::int64_t put_requests_of_piece(store const& in, db::session& on, task_state state,
                                   task_request what, std::int64_t& after) {
  auto const queue = in.present().id;
  auto const found =
      db::run(on, in.with().sql["segment.of_state"],
              {queue, static_cast<std::int64_t>(state), std::int64_t{after}, segments_a_change});
  after = -1;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto const range = segment_of(found.row(i));
    count += db::run(on, in.with().sql["request.put_range"],
                     {queue, range.lo, range.hi, static_cast<std::int64_t>(what)})
                 .affected;
    if (std::cmp_equal(found.size(), segments_a_change)) after = range.hi;
  }
  return count;
}

}  // namespace

bool put_request(store const& in, key const& of, task_request what, audit_note const& by) {
  in.with().check_process();
  auto const process = process_of(in);
  auto const detail = detail_of(what);
  core::change const change{in.with(), process, of.str(), action_of(what),
                            core::bounded_remark(by)};
  // Once more, what is written down was asked for.
  bool const there = core::insist([&] {
    bool before = false;
    auto const decided = core::transact(in.with(), {.name = "ask"}, [&](db::session& on) {
      before = !write_down(on, change, detail);
      if (before) return core::decision::rollback;
      return db::run(on, in.with().sql["request.put"],
                     {in.present().id, of.str(), static_cast<std::int64_t>(what), std::int64_t{0}})
                         .affected > 0
                 ? core::decision::commit
                 : core::decision::rollback;
    });
    if (before) core::confirm_seen(in.with());
    return before || decided == core::decision::commit;
  });
  in.ring();
  return there;
}

bool put_priority(store const& in, key const& task, int priority, audit_note const* by) {
  in.with().check_process();
  base::limits("queue", in.name()).between("the priority", priority, 0, priorities - 1);
  if (in.present().by.in_order) {
    throw error({.kind = error_code::bad_argument},
                "queue '" + in.name() +
                    "': a priority, where tasks are done in the order in which they were added "
                    "(in_order)");
  }
  auto const put = [&](db::session& on) {
    return db::run(on, in.with().sql["request.put_priority"],
                   {in.present().id, task.str(), std::int64_t{priority}})
               .affected > 0;
  };
  if (by != nullptr) {
    auto const process = process_of(in);
    return core::make({in.with(), process, task.str(), "priority", core::bounded_remark(*by)},
                      std::to_string(priority) + "; request " + store::new_id(), put);
  }
  return in.do_once("ask", put);
}

std::int64_t in_front(store const& in, key const& task) {
  auto const found = in.find(task);
  if (!found) return 0;
  std::int64_t out = 0;
  core::read(in.with(), [&](db::session& on) {
    decode(db::run(on, in.with().sql["task.in_front"],
                   {in.present().id, std::int64_t{found->priority}, found->id})
               .row(0)[0],
           out);
  });
  return out;
}

std::int64_t put_requests(store const& in, task_state state, task_request what,
                          audit_note const& by, std::function<void(std::int64_t)> const& told) {
  in.with().check_process();
  if (state == task_state::running) {
    throw error({.kind = error_code::bad_argument},
                "queue '" + in.name() + "': tasks in hand are asked for by their keys");
  }
  auto const process = process_of(in);
  std::string const key;
  auto const detail = "all that are " + std::string(word_of(state)) + "; " + detail_of(what);
  core::change const change{in.with(), process, key, action_of(what), core::bounded_remark(by)};
  std::int64_t sum = 0;
  std::int64_t after = 0;
  while (after >= 0) {
    auto const from = after;
    std::int64_t count = 0;
    in.do_once("ask", [&](db::session& on) {
      after = from;
      count = put_requests_of_piece(in, on, state, what, after);
      if (count > 0) write_down(on, change, detail);
      return count > 0;
    });
    sum += count;
    in.ring();
    if (told) told(sum);
  }
  return sum;
}

bool remove(store& from, key const& of, audit_note const& by) {
  auto const found = from.find(of);
  if (!found) return false;
  auto const process = process_of(from);
  return core::make({from.with(), process, of.str(), "remove", core::bounded_remark(by)},
                    "task " + std::to_string(found->id),
                    [&](db::session& on) { return from.remove_in(on, of); });
}

bool pause(store const& which, bool paused, audit_note const& by) {
  which.with().check_process();
  auto const process = process_of(which);
  std::string const key;
  auto const seen = look(which.with(), which.name()).value_or(which.present());
  bool const changed = core::make(
      {which.with(), process, key, paused ? "pause" : "resume", core::bounded_remark(by)},
      "version " + std::to_string(seen.version), [&](db::session& on) {
        return db::run(on, which.with().sql["queue.pause"], {seen.id, std::int64_t{paused ? 1 : 0}})
                   .affected == 1;
      });
  which.ring();
  return changed;
}

void write_down(core::context const& with, std::string_view queue, std::string_view action,
                std::string const& what, audit_note const& by,
                std::function<void(db::session&)> const& act) {
  with.check_process();
  auto const process = process_of(queue);
  std::string const key;
  auto const detail = what + "; " + store::new_id();
  core::change const change{with, process, key, action, core::bounded_remark(by)};
  // Once more, a detail is written down once.
  core::insist([&] {
    core::transact(with, {.name = "operate"}, [&](db::session& on) {
      act(on);
      write_down(on, change, detail);
      return core::decision::commit;
    });
  });
}

std::vector<task_outcome> outcomes(store const& in, key const& of, int limit) {
  in.with().check_process();
  base::limits("queue", in.name()).between("the number of outcomes (limit)", limit, 1, 10'000);
  std::vector<task_outcome> out;
  core::read(in.with(), [&](db::session& on) {
    out.clear();
    auto const member = db::run(on, in.with().sql["member.find"], {in.present().id, of.str()});
    if (member.size() == 0) return;
    std::int64_t id = 0;
    decode(member.row(0)[0], id);
    // Of two rows of a claim the first is its own; the other stands for its neighbours.
    auto const found =
        db::run(on, in.with().sql["task.outcomes"], {in.present().id, id, std::int64_t{limit} * 2});
    std::set<std::string> claims;
    for (std::size_t i = 0; i < found.size() && std::cmp_less(out.size(), limit); ++i) {
      auto one = outcome_of(found.row(i));
      if (claims.insert(one.claim).second) out.push_back(std::move(one));
    }
  });
  return out;
}

std::vector<change_info> changes(store const& in, std::string_view key) {
  in.with().check_process();
  return core::list_changes(in.with(), process_of(in), key);
}

queue_info info(store const& of) {
  of.with().check_process();
  auto const found = look(of.with(), of.name()).value_or(of.present());
  queue_info out{of.name(), found.options, found.paused, {}};
  if (found.round_us) out.round = db::time_of(*found.round_us);
  return out;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
