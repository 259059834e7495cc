#include "core/admin/holders.hpp"

#include "core/admin/inspect.hpp"
#include "core/lease/holder.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace daybook {
inline namespace v1 {

std::string_view word_of(holder_state state) noexcept {
  switch (state) {
    case holder_state::alive: return "alive";
    case holder_state::late: return "late";
    case holder_state::dead: return "dead";
    case holder_state::ended: return "ended";
  }
  return "?";
}

namespace core {

namespace {

using held = std::map<std::string, std::vector<held_work>, std::less<>>;

holder_info read_holder(std::span<cell const> row) {
  holder_info out;
  decode(row[0], out.holder);
  decode(row[1], out.node);
  decode(row[2], out.pid);
  out.state = static_cast<holder_state>(db::get<std::int64_t>(row[3]));
  out.started = db::time_of(db::get<std::int64_t>(row[4]));
  out.renewed = db::time_of(db::get<std::int64_t>(row[5]));
  out.until = db::time_of(db::get<std::int64_t>(row[6]));
  out.ended = db::time_in(row[7]);
  return out;
}

void add_holders(db::session& session, context const& book, bool ended, std::string_view uuid,
                 std::vector<holder_info>& holders) {
  auto const rows = db::run(session, book.sql["inspect.holders"],
                            {std::int64_t{ended ? 1 : 0}, uuid, std::int64_t{max_skew.count()}});
  for (std::size_t at = 0; at < rows.size(); ++at) {
    auto one = read_holder(rows.row(at));
    if (uuid.empty() || one.holder == uuid) holders.push_back(std::move(one));
  }
}

void read_runs(db::session& session, context const& book, work_in_hand& out, held& by_holder) {
  auto const rows = db::run(session, book.sql["inspect.open_runs"], {});
  for (std::size_t at = 0; at < rows.size(); ++at) {
    auto const row = rows.row(at);
    open_run one;
    decode(row[0], one.process);
    decode(row[1], one.key);
    one.state = static_cast<run_state>(db::get<std::int64_t>(row[2]));
    one.since = db::time_of(db::get<std::int64_t>(row[3]));
    one.ended = db::time_in(row[4]);
    decode(row[5], one.holder);
    one.deadline = db::time_in(row[6]);
    if (one.held()) {
      by_holder[one.holder].push_back({work_kind::run, one.process, one.key, 0, one.since});
    }
    out.runs.push_back(std::move(one));
  }
}

void read_claims(db::session& session, context const& book, held& by_holder) {
  auto const rows = db::run(session, book.sql["inspect.claims"], {});
  for (std::size_t at = 0; at < rows.size(); ++at) {
    auto const row = rows.row(at);
    held_work one;
    one.kind = work_kind::tasks;
    decode(row[1], one.name);
    decode(row[3], one.tasks);
    one.since = db::time_of(db::get<std::int64_t>(row[4]));
    by_holder[db::get<std::string>(row[0])].push_back(std::move(one));
  }
}

/// A holder whose row is gone is dead.
holder_info gone(std::string const& uuid, std::vector<held_work> const& work) {
  holder_info out;
  out.holder = uuid;
  out.state = holder_state::dead;
  out.started = out.renewed = out.until = work.front().since;
  return out;
}

}  // namespace

work_in_hand look_at_work(context const& book, ended_holders ended) {
  work_in_hand out;
  read(book, [&](db::session& session) {
    out = {};
    out.now =
        db::time_of(db::get<std::int64_t>(db::run(session, book.sql["book.now"], {}).row(0)[0]));
    held by_holder;
    // Before the work: a holder that ends meanwhile leaves none behind that would seem to be dead.
    add_holders(session, book, ended == ended_holders::included, {}, out.holders);
    read_runs(session, book, out, by_holder);
    read_claims(session, book, by_holder);
    for (auto& [uuid, work] : by_holder) {
      // A name of its own: clang 14 lets no lambda see a structured binding.
      auto const find = [&holders = out.holders, &holder = uuid] {
        return std::find_if(holders.begin(), holders.end(),
                            [&](holder_info const& one) { return one.holder == holder; });
      };
      if (find() == out.holders.end()) add_holders(session, book, false, uuid, out.holders);
      if (find() == out.holders.end()) out.holders.push_back(gone(uuid, work));
      std::stable_sort(work.begin(), work.end(),
                       [](held_work const& a, held_work const& b) { return a.since < b.since; });
      find()->work = std::move(work);
    }
  });
  return out;
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
