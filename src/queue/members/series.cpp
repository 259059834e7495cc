#include "queue/members/series.hpp"

#include "base/rows.hpp"
#include "core/tx/transact.hpp"
#include "queue/members/store.hpp"

#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

constexpr std::int64_t strays_at_once = 1000;
/// So many times what is wanted is looked at in the order of due times, before each series is.
constexpr std::int64_t look_ahead = 4;

}  // namespace

bool is_over(segment const& segment) noexcept {
  return segment.state == task_state::succeeded || segment.state == task_state::discarded;
}

void begin_series(core::context const& context, db::session& session, std::int64_t lo,
                  std::int64_t hi) {
  if (hi - lo == 1) {
    db::run(session, context.sql["series.add_one"], {lo, nullptr});
  } else {
    db::run(session, context.sql["series.add"], {lo, hi});
  }
}

void begin_again(core::context const& context, db::session& session, std::int64_t member,
                 std::int64_t now_us) {
  db::run(session, context.sql["series.add_one"], {member, now_us});
}

std::string heads_of(core::context const& context, db::session& session, std::int64_t queue,
                     int lane, std::int64_t limit) {
  auto found = db::run(session, context.sql["series.heads"],
                       {queue, std::int64_t{lane}, limit * look_ahead, limit});
  // Those due for longest may all be behind one that takes its time.
  if (found.size() == 0) {
    found = db::run(session, context.sql["series.all_heads"], {queue, std::int64_t{lane}, limit});
  }
  base::rows out;
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::int64_t hi = 0;
    decode(found.row(i)[0], hi);
    out.begin().add(hi);
  }
  return out.text();
}

std::string over_in(std::span<written const> back) {
  base::rows over;
  for (auto const& one : back) {
    if (!is_over(one.what)) continue;
    for (auto id = one.what.lo; id < one.what.hi; ++id) over.begin().add(id);
  }
  return over.text();
}

void end_series(core::context const& context, db::session& session, std::string const& over) {
  if (over != base::rows().text()) db::run(session, context.sql["series.end"], {over});
}

std::int64_t forget_strays(core::context const& context, std::int64_t queue,
                           std::stop_token const& stop) {
  std::int64_t sum = 0;
  for (bool more = true; more && !stop.stop_requested();) {
    base::rows strays;
    std::size_t count = 0;
    core::read(context, [&](db::session& session) {
      auto const found = db::run(session, context.sql["series.strays"], {queue, strays_at_once});
      strays = {};
      count = found.size();
      for (std::size_t i = 0; i < count; ++i) {
        std::int64_t member = 0;
        decode(found.row(i)[0], member);
        strays.begin().add(member);
      }
    });
    more = std::cmp_equal(count, strays_at_once);
    if (count == 0) break;
    try {
      core::write(context, {.name = "series"}, context.sql["series.end"], {strays.text()});
      sum += static_cast<std::int64_t>(count);
    } catch (core::lost_reply const&) {
      more = true;  // those that are there still are found again
    }
  }
  return sum;
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
