// What people and workers ask of sweeps and their pages.
#include "base/limits.hpp"
#include "base/numbers.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"
#include "planner/sources/sweep_book.hpp"

#include <daybook/error.hpp>
#include <daybook/planner.hpp>
#include <daybook/sweep.hpp>

#include <array>
#include <chrono>
#include <limits>
#include <mutex>
#include <set>
#include <utility>

namespace daybook {
inline namespace v1 {

namespace {

constexpr std::int64_t rows_at_once = 10'000;
constexpr std::int64_t pages_looked_at = 1000;

/// The keys of the rows that are in its range now, piece by piece.
std::set<row_key> all_there(planners::page_in_hand const& page, db::session& session) {
  std::set<row_key> out;
  auto after = page.page.low;
  for (;;) {
    auto found = page.table->rows(session, after, page.page.high, rows_at_once);
    bool const all = std::cmp_less(found.size(), rows_at_once);
    if (!all) after = found.back().place;
    for (auto& one : found) out.insert(std::move(one.key));
    if (all) return out;
  }
}

/// Of the rows that are in its range now: those that were seen.
std::vector<row_key> those_there(planners::page_in_hand const& page, db::session& session) {
  auto found = page.table->keys(session, page.page.low, page.page.high, rows_at_once);
  if (found == page.page.keys) return std::move(*found);
  auto const there =
      found ? std::set<row_key>(found->begin(), found->end()) : all_there(page, session);
  std::vector<row_key> out;
  for (auto const& one : page.page.keys) {
    if (there.contains(one)) out.push_back(one);
  }
  return out;
}

}  // namespace

std::string_view word_of(sweep_state state) noexcept {
  static constexpr std::array<std::string_view, 4> words{"cutting", "working", "closing", "over"};
  return words.at(static_cast<std::size_t>(state));
}

std::int64_t sweep_page::sweep() const noexcept { return inside_->sweep; }
std::int64_t sweep_page::number() const noexcept { return inside_->page.number; }
bool sweep_page::done() const noexcept { return inside_->page.state == planners::page_state::done; }
std::vector<row_key> const& sweep_page::keys() const noexcept { return inside_->page.keys; }

std::vector<row_key> sweep_page::present(transaction& tx) const {
  return those_there(*inside_, tx.internals());
}

std::vector<row_key> sweep_page::present() const {
  std::vector<row_key> out;
  core::read(inside_->of->with(),
             [&](db::session& session) { out = those_there(*inside_, session); });
  return out;
}

std::vector<row_key> sweep_page::finish_in(transaction& with_its_task) const {
  auto& on = with_its_task.internals();
  auto out = those_there(*inside_, on);
  auto const vanished = static_cast<std::int64_t>(keys().size() - out.size());
  db::run(on, inside_->of->with().sql["sweep.page_done"],
          {inside_->of->declared().id, sweep(), number(),
           static_cast<std::int64_t>(planners::page_state::done), vanished});
  return out;
}

namespace planners {

sweep_strategy const& store::as_sweep() const {
  auto const* const how = std::get_if<sweep_strategy>(&definition_.options.strategy);
  if (how == nullptr) {
    bad(definition_.name,
        "it is no sweep: its strategy is " + std::string(word_of(definition_.options)));
  }
  return *how;
}

std::shared_ptr<keyset const> store::swept(std::int64_t sweep) const {
  using clock = std::chrono::steady_clock;
  std::lock_guard const lock(guard_);
  auto const asked = clock::now();
  if (!table_ || of_sweep_ != sweep || asked - looked_ > std::chrono::seconds{1}) {
    table_ = std::make_shared<keyset const>(with(), definition_.name, now()->as_sweep());
    of_sweep_ = sweep;
    looked_ = asked;
  }
  return table_;
}

bool store::sweep_now(audit_note const& note) const {
  static_cast<void>(as_sweep());
  return change("sweep", "", note,
                [&](db::session& session) { return begin_sweep(*this, session); });
}

std::vector<sweep_info> store::sweeps(int limit) const {
  with().check_process();
  static_cast<void>(as_sweep());
  base::limits("plan", definition_.name).between("the number of sweeps (limit)", limit, 1, 10'000);
  std::vector<sweep_info> out;
  core::read(with(), [&](db::session& session) {
    out.clear();
    auto const found =
        db::run(session, with().sql["sweep.list"],
                {definition_.id, std::numeric_limits<std::int64_t>::max(), std::int64_t{limit}});
    for (std::size_t i = 0; i < found.size(); ++i) {
      auto const row = found.row(i);
      auto const number = [&](std::size_t index) { return db::get<std::int64_t>(row[index]); };
      out.push_back({.number = number(0),
                     .state = static_cast<sweep_state>(number(1)),
                     .pages = number(4),
                     .done = number(8),
                     .given_up = number(9),
                     .failed = 0,
                     .rows = number(5),
                     .late = number(6),
                     .vanished = number(10),
                     .comparisons = number(7),
                     .started = db::time_in(row[2]).value_or(timestamp{}),
                     .ended = db::time_in(row[3])});
    }
  });
  for (auto& one : out) {
    if (one.state == sweep_state::over) continue;
    for (auto const& page : open_pages(*this, one.number, pages_looked_at)) {
      auto const task = queue_->find(key_of_page(definition_.name, one.number, page.number));
      bool const failed =
          task && (task->state == task_state::failed || task->state == task_state::dead);
      if (failed) ++one.failed;
    }
  }
  return out;
}

std::optional<sweep_page> page(std::shared_ptr<store> const& store, key const& task) {
  store->with().check_process();
  static_cast<void>(store->as_sweep());
  std::string_view rest = task.str();
  auto const start = store->declared().name + "/";
  if (!rest.starts_with(start)) return std::nullopt;
  rest.remove_prefix(start.size());
  auto const slash = rest.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  auto const sweep = base::number_of(rest.substr(0, slash)).value_or(0);
  auto const number = base::number_of(rest.substr(slash + 1)).value_or(0);
  if (sweep < 1 || number < 1) return std::nullopt;
  auto found = page_of(*store, sweep, number);
  if (!found) return std::nullopt;
  return sweep_page(std::make_shared<page_in_hand const>(
      page_in_hand{store, sweep, std::move(*found), store->swept(sweep)}));
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
