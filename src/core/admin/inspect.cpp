#include "core/admin/inspect.hpp"

#include "core/lease/in_hand.hpp"
#include "db/date.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"
#include "db/row_reader.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

run_info read_info(std::span<cell const> row) {
  run_info out;
  lease_holder holder;
  timestamp renewed{};
  struct {
    std::optional<std::int64_t> done, total;
    std::optional<std::string> note;
  } far;
  timestamp left{};
  db::row_reader(row) >> out.process >> out.key >> out.state >> out.number >> out.attempt >>
      out.epoch >> out.steps_done >> out.first_started >> out.started >> out.attempt_started >>
      out.ended >> out.succeeded >> out.error >> holder.holder >> holder.node >> holder.pid >>
      holder.until >> holder.in_hand >> renewed >> out.holder_alive >> out.deadline >>
      out.deadline_over >> out.date >> far.done >> far.total >> far.note >> left;
  if (far.done) {
    out.progress = {*far.done, far.total.value_or(0), std::move(far.note).value_or("")};
  }
  bool const in_hand = out.state == run_state::ready || out.state == run_state::running;
  if (!in_hand) {
    out.holder_alive = false;
    return out;
  }
  if (!out.holder_alive) out.abandoned = left;
  holder.since = out.attempt_started;
  auto line = find_line(holder.in_hand, out.process, out.key).value_or(in_hand_line{});
  holder.in_hand = std::move(line.step);
  if (!holder.in_hand.empty()) holder.in_hand_since = renewed - line.step_for;
  // A renewal is younger than what the last step wrote.
  if (line.how_far) {
    out.progress = {line.how_far->done, line.how_far->total, std::move(line.how_far->note)};
  }
  out.holder = std::move(holder);
  return out;
}

std::vector<run_info> infos(db::session& session, context const& context, runs_query const& query,
                            value const& piece) {
  auto const wanted = std::clamp<std::int64_t>(query.limit, 0, 1'000'000'000);
  auto const rows = db::run(
      session, context.sql["inspect.runs"],
      {query.process.empty() ? value(nullptr) : value(std::string_view(query.process)), piece,
       query.state ? value(std::int64_t{static_cast<int>(*query.state)}) : value(nullptr), wanted});
  std::vector<run_info> out;
  for (std::size_t at = 0; at < rows.size(); ++at) out.push_back(read_info(rows.row(at)));
  return out;
}

step_info read_step(std::span<cell const> row) {
  step_info out;
  db::row_reader(row) >> out.name >> out.attempt >> out.epoch >> out.ended >> out.took >>
      out.mode >> out.value;
  return out;
}

attempt_info read_attempt(std::span<cell const> row) {
  attempt_info out;
  db::row_reader(row) >> out.number >> out.attempt >> out.epoch >> out.holder >> out.node >>
      out.pid >> out.started >> out.ended >> out.state >> out.error >> out.in_hand >> out.output >>
      out.exit_code;
  return out;
}

intent_info read_intent(std::span<cell const> row) {
  intent_info out;
  std::int64_t state = 0;
  db::row_reader(row) >> out.name >> out.attempt >> out.started >> state;
  out.unknown = state == 4;
  return out;
}

value_info read_carried(std::span<cell const> row) {
  value_info out;
  db::row_reader(row) >> out.name >> out.value >> out.updated;
  return out;
}

/// Every row of a statement, each by `read_one`.
template <class T>
std::vector<T> all(db::session& session, db::entry const& entry,
                   std::initializer_list<value> values, T (*read_one)(std::span<cell const>)) {
  auto const rows = db::run(session, entry, values);
  std::vector<T> out;
  for (std::size_t at = 0; at < rows.size(); ++at) out.push_back(read_one(rows.row(at)));
  return out;
}

}  // namespace

std::vector<run_info> list_runs(context const& context, runs_query const& query) {
  std::vector<run_info> out;
  read(context, [&](db::session& session) { out = infos(session, context, query, nullptr); });
  return out;
}

std::optional<run_detail> find_run(context const& context, process const& name,
                                   key const& run_key) {
  std::optional<run_detail> out;
  read(context, [&](db::session& session) {
    out.reset();
    auto found = infos(session, context, {.process = name.str(), .state = {}, .limit = 1},
                       std::string_view(run_key.str()));
    if (found.empty()) return;
    out.emplace();
    out->info = std::move(found.front());
    auto const& number = out->info.number;
    out->steps =
        all(session, context.sql["inspect.steps"], {name.str(), run_key.str(), number}, read_step);
    out->intents = all(session, context.sql["inspect.intents"], {name.str(), run_key.str(), number},
                       read_intent);
    out->values = all(session, context.sql["inspect.carried"], {name.str(), run_key.str(), number},
                      read_carried);
    out->attempts =
        all(session, context.sql["inspect.attempts"], {name.str(), run_key.str()}, read_attempt);
  });
  return out;
}

book_status look_at_all(context const& context, status_depth depth) {
  book_status out;
  read(context, [&](db::session& session) {
    out = {};
    bool const newest = depth == status_depth::newest;
    auto const rows = newest ? db::run(session, context.sql["inspect.status"], {newest_ends})
                             : db::run(session, context.sql["inspect.status_of_all"], {});
    auto const row = rows.row(0);
    db::row_reader(row) >> out.now >> out.holders_alive >> out.runs_in_hand >> out.runs_abandoned >>
        out.runs_overdue >> out.runs_succeeded >> out.runs_failed >> out.runs_interrupted >>
        out.runs_unknown;
    if (newest) decode(row.back(), out.runs_capped);
  });
  return out;
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
