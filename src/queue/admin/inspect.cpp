// Where tasks are: in the one segment that covers each, or in a claim.
#include "base/limits.hpp"
#include "queue/admin/standing.hpp"
#include "queue/claims/batch.hpp"
#include "queue/members/segment_text.hpp"
#include "queue/members/store.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

constexpr std::int64_t segments_a_page = 1000;

std::optional<timestamp> time_of(std::int64_t us) {
  if (us == never_us) return std::nullopt;
  return timestamp(std::chrono::microseconds(shown_us(us)));
}

std::optional<timestamp> time_in(cell const& cell) {
  std::optional<std::int64_t> us;
  decode(cell, us);
  return us ? time_of(*us) : std::nullopt;
}

void put_earlier(std::optional<timestamp>& earliest, std::optional<timestamp> const& other) {
  if (other && (!earliest || *other < *earliest)) earliest = other;
}

void put_segment(task_info& info, segment const& segment) {
  info.state = segment.state;
  info.priority = segment.lane % priorities;
  info.attempts = segment.attempts;
  info.crashes = segment.crashes;
  info.turn = timestamp(std::chrono::microseconds(segment.turn_us));
  info.due = time_of(segment.due_us);
}

bool put_claim(core::context const& context, db::session& session, std::int64_t queue,
               task_info& info) {
  auto const found = db::run(session, context.sql["claim.of_queue"], {queue});
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto const row = found.row(i);
    auto const range = segment_of(row.subspan(3));
    if (info.id < range.lo || info.id >= range.hi) continue;
    put_segment(info, range);
    info.state = task_state::running;
    decode(row[0], info.claim);
    decode(row[1], info.holder);
    info.started = time_in(row[2]);
    auto const done = db::run(session, context.sql["task.ledger_of"], {info.claim, info.id});
    if (done.size() > 0) {
      std::int64_t state = 0;
      decode(done.row(0)[0], state);
      info.state = static_cast<task_state>(state);
      info.finished = time_in(done.row(0)[1]);
      decode(done.row(0)[2], info.remark);
    }
    return true;
  }
  return false;
}

void put_outcome(core::context const& context, db::session& session, std::int64_t queue,
                 task_info& info) {
  auto const found = db::run(session, context.sql["task.outcome"], {queue, info.id});
  if (found.size() == 0) return;
  auto const row = found.row(0);
  info.started = time_in(row[0]);
  info.finished = time_in(row[1]);
  decode(row[2], info.claim);
  decode(row[3], info.remark);
}

/// What covers it now; it may move from one to the other while we look.
bool put_place(core::context const& context, db::session& session, std::int64_t queue,
               task_info& info) {
  for (int look = 0; look < 10; ++look) {
    auto const found = db::run(session, context.sql["segment.of"], {info.id});
    if (found.size() > 0) {
      put_segment(info, segment_of(found.row(0)));
      put_outcome(context, session, queue, info);
      return true;
    }
    if (put_claim(context, session, queue, info)) return true;
  }
  return false;
}

/// Whether its newest outcome is worth the reading: what is done has few words, and is much.
bool has_failed(segment const& segment) {
  if (segment.state == task_state::waiting) return segment.attempts > 0;
  return segment.state != task_state::succeeded && segment.state != task_state::running;
}

}  // namespace

std::optional<task_info> store::find(key const& key) const {
  context_.check_process();
  std::optional<task_info> out;
  core::read(context_, [&](db::session& session) { out = find_in(session, key); });
  return out;
}

std::optional<task_info> store::find_in(db::session& session, key const& key) const {
  auto const queue = present().id;
  auto const found = db::run(session, context_.sql["member.find"], {queue, key.str()});
  if (found.size() == 0) return std::nullopt;
  task_info out;
  out.key = key.str();
  decode(found.row(0)[0], out.id);
  decode(found.row(0)[1], out.payload);
  if (!put_place(context_, session, queue, out)) return std::nullopt;
  return out;
}

bool store::is_asked_in(db::session& session, std::int64_t member) const {
  return db::run(session, context_.sql["request.of"], {present().id, member}).size() > 0;
}

std::vector<task_info> store::tasks(tasks_query const& query) const {
  context_.check_process();
  base::limits("queue", name_).between("the number of tasks (limit)", query.limit, 1, 10'000);
  auto const here = present();
  auto const limit = static_cast<std::size_t>(query.limit);
  bool const running = query.state == task_state::running;
  std::vector<task_info> out;
  core::read(context_, [&](db::session& session) {
    out.clear();
    auto const add = [&](segment const& range, task_info const& like) {
      auto const lo = std::max(range.lo, query.after + 1);
      if (lo >= range.hi || out.size() >= limit) return;
      bool const told = !running && has_failed(range);
      auto const found =
          db::run(session, context_.sql[told ? "member.range_told" : "member.range"],
                  {here.id, lo, range.hi, static_cast<std::int64_t>(limit - out.size())});
      for (std::size_t i = 0; i < found.size(); ++i) {
        auto one = like;
        put_segment(one, range);
        if (running) one.state = task_state::running;
        decode(found.row(i)[0], one.id);
        decode(found.row(i)[1], one.key);
        decode(found.row(i)[2], one.payload);
        if (told) decode(found.row(i)[3], one.remark);
        out.push_back(std::move(one));
      }
    };
    if (running) {
      auto const found = db::run(session, context_.sql["claim.of_queue"], {here.id});
      for (std::size_t i = 0; i < found.size(); ++i) {
        task_info like;
        decode(found.row(i)[0], like.claim);
        decode(found.row(i)[1], like.holder);
        like.started = time_in(found.row(i)[2]);
        add(segment_of(found.row(i).subspan(3)), like);
      }
      return;
    }
    auto after = query.after;
    for (bool more = true; more && out.size() < limit;) {
      auto const found =
          db::run(session, context_.sql["segment.of_state"],
                  {here.id, static_cast<std::int64_t>(query.state), after, segments_a_page});
      more = std::cmp_equal(found.size(), segments_a_page);
      for (std::size_t i = 0; i < found.size(); ++i) {
        auto const range = segment_of(found.row(i));
        if (!query.retrying || range.attempts > 0) add(range, {});
        after = range.hi;
      }
    }
  });
  return out;
}

std::int64_t store::now_us() const {
  std::int64_t out = 0;
  core::read(context_, [&](db::session& session) {
    decode(db::run(session, context_.sql["queue.now"], {}).row(0)[0], out);
  });
  return out;
}

queue_counts store::counts(counting scope) const {
  context_.check_process();
  auto const here = present();
  queue_counts out;
  core::read(context_, [&](db::session& session) {
    out = {};
    auto const found = db::run(session, context_.sql["task.counts"], {here.id});
    for (std::size_t i = 0; i < found.size(); ++i) {
      auto const row = found.row(i);
      std::int64_t state = 0;
      bool due = false;
      std::int64_t tasks = 0;
      std::int64_t segments = 0;
      decode(row[0], state);
      decode(row[1], due);
      decode(row[2], tasks);
      decode(row[3], segments);
      if (static_cast<task_state>(state) == task_state::running) {
        out.running = tasks;
        out.claims = segments;
        continue;
      }
      out.segments += segments;
      if (due) out.due += tasks;
      put_earlier(due ? out.oldest_due : out.next_due, time_in(row[4]));
      switch (static_cast<task_state>(state)) {
        case task_state::waiting: out.waiting += tasks; break;
        case task_state::succeeded: out.succeeded += tasks; break;
        case task_state::failed: out.failed += tasks; break;
        case task_state::dead: out.dead += tasks; break;
        case task_state::unknown: out.unknown += tasks; break;
        case task_state::quarantined: out.quarantined += tasks; break;
        case task_state::discarded: out.discarded += tasks; break;
        case task_state::running: break;
      }
    }
    if (scope == counting::tasks) return;
    decode(db::run(session, context_.sql["member.count"], {here.id}).row(0)[0], out.members);
  });
  for (auto const& one : standings(context_, here.id)) {
    out.abandoned = one.abandoned;
    if (!one.paused && one.claims == 0) out.overdue = one.due;
  }
  return out;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
