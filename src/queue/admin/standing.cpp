#include "queue/admin/standing.hpp"

#include "base/rows.hpp"
#include "core/lease/holder.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"
#include "queue/members/series.hpp"
#include "queue/model/settle.hpp"

#include <daybook/queue_options.hpp>

#include <span>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

/// In a queue in order, a task that is due may wait for one before it. All have one priority.
bool any_is_first(db::session& session, core::context const& book, std::int64_t queue) {
  auto const none = base::rows().text();
  int const lane = task_options{}.priority;
  return heads_of(book, session, queue, lane, 1) != none ||
         heads_of(book, session, queue, lane + priorities, 1) != none;
}

standing read_standing(db::session& session, core::context const& book, std::span<cell const> row) {
  standing out;
  decode(row[0], out.id);
  decode(row[1], out.name);
  out.paused = db::get<std::int64_t>(row[2]) != 0;
  bool const in_order = db::get<std::int64_t>(row[3]) != 0;
  out.grain = std::chrono::microseconds(db::get<std::int64_t>(row[4]));
  out.due = db::time_in(row[5]);
  decode(row[6], out.claims);
  decode(row[7], out.abandoned);
  out.now = db::time_of(db::get<std::int64_t>(row[8]));
  if (out.due && in_order && out.claims == 0 && !any_is_first(session, book, out.id))
    out.due.reset();
  return out;
}

}  // namespace

std::vector<standing> standings(core::context const& book, std::int64_t queue) {
  std::vector<standing> out;
  core::read(book, [&](db::session& session) {
    out.clear();
    auto const found =
        db::run(session, book.sql["queue.standing"], {queue, std::int64_t{core::max_skew.count()}});
    for (std::size_t i = 0; i < found.size(); ++i) {
      out.push_back(read_standing(session, book, found.row(i)));
    }
  });
  return out;
}

std::vector<stuck> stuck_tasks(core::context const& book) {
  std::vector<stuck> out;
  core::read(book, [&](db::session& session) {
    out.clear();
    auto const found = db::run(session, book.sql["queue.stuck"], {});
    for (std::size_t i = 0; i < found.size(); ++i) {
      auto const row = found.row(i);
      out.push_back({db::get<std::string>(row[0]),
                     static_cast<task_state>(db::get<std::int64_t>(row[1])),
                     db::get<std::int64_t>(row[2])});
    }
  });
  return out;
}

task_totals totals(core::context const& book, std::int64_t segments) {
  task_totals out;
  for (auto const& one : stuck_tasks(book)) {
    (one.state == task_state::dead ? out.dead : out.unknown) += one.tasks;
  }
  auto const all = standings(book);
  out.queues = static_cast<std::int64_t>(all.size());
  core::read(book, [&](db::session& session) {
    out.due = 0;
    out.capped = false;
    for (auto const& one : all) {
      auto const found = db::run(session, book.sql["queue.due"], {one.id, segments});
      out.due += db::get<std::int64_t>(found.row(0)[0]);
      if (db::get<std::int64_t>(found.row(0)[1]) >= segments) out.capped = true;
    }
    decode(db::run(session, book.sql["queue.running"], {}).row(0)[0], out.running);
  });
  return out;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
