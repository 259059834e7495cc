#include "core/inspect.hpp"

#include "core/holder.hpp"
#include "core/transact.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

constexpr auto patience = std::chrono::seconds{10};

/// Reads a row's cells one after the other, so that columns are named once, in the SQL file.
class row_reader {
 public:
  explicit row_reader(std::span<cell const> row) : row_(row) {}

  template <class T>
  row_reader& operator>>(T& to) {
    decode(row_[at_++], to);
    return *this;
  }
  row_reader& operator>>(timestamp& to) {
    std::int64_t us = 0;
    decode(row_[at_++], us);
    to = timestamp(std::chrono::microseconds(us));
    return *this;
  }
  row_reader& operator>>(std::optional<timestamp>& to) {
    std::optional<std::int64_t> us;
    decode(row_[at_++], us);
    if (us) to = timestamp(std::chrono::microseconds(*us));
    return *this;
  }
  row_reader& operator>>(run_state& to) {
    std::int64_t number = 0;
    decode(row_[at_++], number);
    to = static_cast<run_state>(number);
    return *this;
  }

 private:
  std::span<cell const> row_;
  std::size_t at_ = 0;
};

run_info read_info(std::span<cell const> row) {
  run_info out;
  occupant who;
  row_reader(row) >> out.process >> out.key >> out.state >> out.number >> out.attempt >>
      out.epoch >> out.steps_done >> out.first_started >> out.started >> out.attempt_started >>
      out.ended >> out.succeeded >> out.error >> who.holder >> who.node >> who.pid >> who.until >>
      who.in_hand >> out.holder_alive;
  bool const in_hand = out.state == run_state::ready || out.state == run_state::running;
  if (in_hand) {
    who.since = out.attempt_started;
    who.in_hand = step_in_hand(who.in_hand, out.process, out.key);
    out.holder = std::move(who);
  } else {
    out.holder_alive = false;
  }
  return out;
}

std::vector<run_info> infos(db::session& on, context const& with, runs_query const& query,
                            value const& piece) {
  auto const wanted = std::clamp<std::int64_t>(query.limit, 0, 1'000'000'000);
  auto const rows = db::run(
      on, with.sql["inspect.runs"],
      {query.process.empty() ? value(nullptr) : value(std::string_view(query.process)), piece,
       query.state ? value(std::int64_t{static_cast<int>(*query.state)}) : value(nullptr), wanted});
  std::vector<run_info> out;
  for (std::size_t at = 0; at < rows.size(); ++at) out.push_back(read_info(rows.row(at)));
  return out;
}

step_info read_step(std::span<cell const> row) {
  step_info out;
  row_reader(row) >> out.name >> out.attempt >> out.epoch >> out.ended >> out.value;
  return out;
}

attempt_info read_attempt(std::span<cell const> row) {
  attempt_info out;
  row_reader(row) >> out.number >> out.attempt >> out.epoch >> out.holder >> out.node >> out.pid >>
      out.started >> out.ended >> out.state >> out.error;
  return out;
}

}  // namespace

std::vector<run_info> list_runs(context const& with, runs_query const& query) {
  std::vector<run_info> out;
  read(with, patience, [&](db::session& on) { out = infos(on, with, query, nullptr); });
  return out;
}

std::optional<run_detail> find_run(context const& with, process const& name, key const& piece) {
  std::optional<run_detail> out;
  read(with, patience, [&](db::session& on) {
    out.reset();
    auto found = infos(on, with, {.process = name.str(), .state = {}, .limit = 1},
                       std::string_view(piece.str()));
    if (found.empty()) return;
    out.emplace();
    out->info = std::move(found.front());
    auto const steps =
        db::run(on, with.sql["inspect.steps"], {name.str(), piece.str(), out->info.number});
    for (std::size_t at = 0; at < steps.size(); ++at) {
      out->steps.push_back(read_step(steps.row(at)));
    }
    auto const attempts = db::run(on, with.sql["inspect.attempts"], {name.str(), piece.str()});
    for (std::size_t at = 0; at < attempts.size(); ++at) {
      out->attempts.push_back(read_attempt(attempts.row(at)));
    }
  });
  return out;
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
