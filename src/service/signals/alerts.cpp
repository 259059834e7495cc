#include "service/signals/alerts.hpp"

#include "base/digest.hpp"
#include "base/limits.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"
#include "service/signals.hpp"

#include <daybook/transaction.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace work {

namespace {

std::string print_of(problem const& one) { return base::digest({word_of(one.kind), one.subject}); }

/// The words of the book; kinds that a later release wrote are not ours to look after.
std::optional<problem_kind> kind_of(std::string_view word) {
  for (int number = 0; number <= static_cast<int>(problem_kind::plan_failing); ++number) {
    auto const kind = static_cast<problem_kind>(number);
    if (word_of(kind) == word) return kind;
  }
  return std::nullopt;
}

alert alert_of(seen_problem const& one, alert_state state, timestamp at) {
  return {one.problem, state, one.print, one.since, at};
}

std::vector<seen_problem> read_seen(db::session& session, core::context const& book) {
  std::vector<seen_problem> out;
  auto const rows = db::run(session, book.sql["problem.all"], {});
  for (std::size_t at = 0; at < rows.size(); ++at) {
    auto const row = rows.row(at);
    auto const kind = kind_of(db::get<std::string>(row[1]));
    if (!kind) continue;
    seen_problem one;
    decode(row[0], one.print);
    one.problem.kind = *kind;
    decode(row[2], one.problem.subject);
    one.problem.urgency = static_cast<urgency>(db::get<std::int64_t>(row[3]));
    one.since = db::time_of(db::get<std::int64_t>(row[4]));
    one.problem.since = one.since;
    one.told = db::time_in(row[5]);
    decode(row[6], one.seen);
    decode(row[7], one.unseen);
    decode(row[8], one.problem.why);
    decode(row[9], one.problem.remedy);
    out.push_back(std::move(one));
  }
  return out;
}

void write_seen(db::session& session, core::context const& book, look_result const& look,
                timestamp at) {
  for (auto const& print : look.ended) db::run(session, book.sql["problem.remove"], {print});
  for (auto const& one : look.kept) {
    db::run(session, book.sql["problem.remove"], {one.print});
    db::run(session, book.sql["problem.put"],
            {one.print, word_of(one.problem.kind), one.problem.subject,
             std::int64_t{static_cast<int>(one.problem.urgency)},
             std::int64_t{one.since.time_since_epoch().count()},
             one.told ? value(std::int64_t{one.told->time_since_epoch().count()}) : value(nullptr),
             one.seen, one.unseen, one.problem.why, one.problem.remedy,
             std::int64_t{at.time_since_epoch().count()}});
  }
}

}  // namespace

look_result compare(std::vector<seen_problem> before, std::vector<problem> now, timestamp at,
                    alert_options const& options) {
  look_result out;
  for (auto& one : now) {
    auto print = print_of(one);
    auto const known = std::find_if(before.begin(), before.end(), [&](seen_problem const& other) {
      return other.print == print;
    });
    seen_problem next;
    next.since = one.since.value_or(at);
    if (known != before.end()) {
      next = std::move(*known);
      before.erase(known);
    }
    next.problem = std::move(one);
    next.print = std::move(print);
    next.seen = std::min<std::int64_t>(next.seen + 1, options.looks);
    next.unseen = 0;
    if (next.seen >= options.looks && (!next.told || at - *next.told >= options.repeat_after)) {
      next.told = at;
      out.alerts.push_back(alert_of(next, alert_state::stands, at));
    }
    out.kept.push_back(std::move(next));
  }
  for (auto& one : before) {
    if (one.told && ++one.unseen < options.looks) {
      out.kept.push_back(std::move(one));
      continue;
    }
    if (one.told) out.alerts.push_back(alert_of(one, alert_state::ended, at));
    out.ended.push_back(std::move(one.print));
  }
  return out;
}

std::vector<alert> look_for_alerts(engine& engine, alert_options const& options,
                                   alert_writer const& write) {
  base::limits const given("alert_options");
  given.between("the looks", options.looks, 1, 100);
  given.between("again", options.repeat_after, std::chrono::minutes{1},
                std::chrono::hours{24 * 366});
  auto const found = find_problems(engine, options.problems);
  auto const& book = engine.ready();
  std::vector<alert> out;
  core::transact(book, {.name = "user"}, [&](db::session& session) {
    auto const at =
        db::time_of(db::get<std::int64_t>(db::run(session, book.sql["book.now"], {}).row(0)[0]));
    auto look = compare(read_seen(session, book), found, at, options);
    write_seen(session, book, look, at);
    transaction tx(session, book.user_sql, "the alerts of a book");
    for (auto const& one : look.alerts) write(tx, one);
    out = std::move(look.alerts);
    return core::decision::commit;
  });
  return out;
}

}  // namespace work
}  // namespace v1
}  // namespace daybook
