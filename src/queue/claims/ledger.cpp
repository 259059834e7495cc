#include "queue/claims/ledger.hpp"

#include "base/mutant.hpp"
#include "base/rows.hpp"
#include "db/cells.hpp"
#include "queue/claims/batch.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

namespace {

verdict::kind kind_of(task_state state) {
  switch (state) {
    case task_state::succeeded: return verdict::kind::success;
    case task_state::failed: return verdict::kind::failure;
    case task_state::discarded: return verdict::kind::cancel;
    case task_state::unknown: return verdict::kind::unknown;
    default: return verdict::kind::snooze;
  }
}

}  // namespace

bool ledger::has_begun(std::int64_t id) const noexcept {
  if (!announced) return true;
  auto const after =
      std::upper_bound(begun.begin(), begun.end(), id,
                       [](std::int64_t last, range const& one) { return last < one.lo; });
  return after != begun.begin() && std::prev(after)->hi > id;
}

ledger ledger_of(core::context const& context, db::session& session, std::string const& claim) {
  auto const found = db::run(session, context.sql["claim.ledger"], {claim});
  ledger out;
  out.ended.reserve(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto const row = found.row(i);
    std::int64_t lo = 0;
    std::int64_t hi = 0;
    std::int64_t state = 0;
    decode(row[0], lo);
    decode(row[1], hi);
    decode(row[2], state);
    if (static_cast<task_state>(state) == task_state::running) {
      out.announced = true;
      out.begun.push_back({-hi, -lo});
      continue;
    }
    auto& to = out.ended.emplace_back(ledger_entry{lo, hi, {}});
    std::int64_t finished = 0;
    decode(row[3], to.how.delay_us);
    decode(row[4], finished);
    decode(row[5], to.how.remark);
    to.how.what = kind_of(static_cast<task_state>(state));
    to.how.finished_us = finished;
  }
  std::reverse(out.begun.begin(), out.begun.end());
  return out;
}

void add_beginning(base::rows& last, std::int64_t lo, std::int64_t hi) {
  last.begin().add(-hi).add(-lo).add(static_cast<std::int64_t>(task_state::running));
  last.add(std::int64_t{0}).add(std::int64_t{0}).add(std::string_view());
}

std::string nothing_begun() {
  base::rows out;
  add_beginning(out, 0, 1);
  return out.text();
}

// --- The same of a batch in hand ---

void batch::read(ledger const& ledger) {
  ledger_used_ = true;
  if (!ledger.announced) return;
  announced_.resize(tasks_.size());
  for (std::size_t i = 0; i < tasks_.size(); ++i) announced_[i] = ledger.has_begun(tasks_[i].id);
}

bool batch::has_begun(task const& task) const {
  return !announces() || announced_[position(task)] != 0;
}

std::int64_t batch::add_begun(base::rows& last, std::span<std::size_t const> places) const {
  std::int64_t count = 0;
  for (std::size_t first = 0; first < places.size();) {
    auto next = first + 1;
    if (announced_[places[first]] == 0) {
      while (next < places.size() && places[next] == places[next - 1] + 1 &&
             announced_[places[next]] == 0) {
        ++next;
      }
      add_beginning(last, tasks_[places[first]].id, tasks_[places[next - 1]].id + 1);
      ++count;
    }
    first = next;
  }
  return count;
}

/// What a transaction whose reply was lost has written is not written again.
outcome batch::begin(std::span<std::size_t const> places) {
  auto const& with = store_->with();
  with.check_process();
  if (!announces()) return outcome::done;
  std::lock_guard const alone(flushing_);
  auto const how = core::for_a_lease(with, "begin_task");
  bool held = true;
  for (bool told = base::left_out("begun_first"); held && !told;) {
    try {
      if (begin_in_doubt_) {
        core::transact(with, how, [&](db::session& session) {
          held = lock_claim(session);
          if (held) read(ledger_of(with, session, id_));
          return core::decision::rollback;
        });
        if (!held) break;
        begin_in_doubt_ = false;
      }
      base::rows rows;
      auto const count = add_begun(rows, places);
      if (count > 0) {
        held =
            core::write(with, how, with.sql["claim.done"], {id_, holder_, rows.text()}).affected ==
            count;
      }
      told = true;
    } catch (core::lost_reply const&) {
      begin_in_doubt_ = true;
    }
  }
  if (!held) return outcome::lost;
  for (auto const at : places) announced_[at] = 1;
  return outcome::done;
}

outcome batch::begin(std::size_t first, std::size_t count) {
  std::vector<std::size_t> places(count);
  std::iota(places.begin(), places.end(), first);
  return begin(places);
}

outcome batch::begin(std::span<task const* const> tasks) {
  std::vector<std::size_t> places;
  places.reserve(tasks.size());
  for (auto const* const one : tasks) {
    std::lock_guard const lock(guard_);
    places.push_back(open_position(*one));
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return begin(places);
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
