// Every row of a table, in pages: cut in the order of an index, then worked on; and when all are
// done, what has come since is looked for in the ranges of the pages and after the last, until that
// finds nothing.
#include "base/text.hpp"
#include "core/tx/transact.hpp"
#include "planner/sources/sweep_book.hpp"
#include "planner/strategy.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace planners {

namespace {

constexpr std::int64_t rows_at_once = 10'000;
constexpr std::int64_t pages_looked_at = 1000;
constexpr std::int64_t bases_at_once = 100;
constexpr std::size_t longest_shown = 200;

std::string shown(row_key const& row_key) {
  std::string out = "[";
  for (auto const& one : row_key) {
    if (out.size() > 1) out.push_back(',');
    base::add_json_text(out, base::bounded(one, longest_shown));
  }
  return out + "]";
}

/// One pass over one sweep.
class sweeping {
 public:
  sweeping(store const& store, sweep_strategy const& strategy, sink& sink)
      : store_(store),
        strategy_(strategy),
        sink_(sink),
        table_(store.with(), store.declared().name, strategy) {}

  /// False: stopped before its end.
  bool go() {
    if (!sink_.only_looks() && !forget()) return false;
    if (!find()) return false;
    if (now_.state == sweep_state::over) return true;
    if (now_.state == sweep_state::cutting) {
      if (!cut()) return false;
      if (sink_.only_looks()) return true;  // what comes then rests on what is not written
    }
    if (now_.state == sweep_state::working) {
      if (!look_after_pages()) return false;
      if (open_ > 0) return true;
      if (was_compared()) return end();
      auto next = now_;
      next.state = sweep_state::closing;
      next.found = next.compared = 0;
      if (!write(next)) return false;
    }
    return now_.state != sweep_state::closing || close();
  }

 private:
  [[nodiscard]] std::string const& name() const { return store_.declared().name; }

  /// Those that nobody asks about any more. False: stopped.
  bool forget() {
    while (auto const old = outlived_sweep(store_)) {
      if (!sink_.write([&](db::session& session) { prune(store_, session, *old); })) return false;
    }
    return true;
  }

  /// The sweep that is under way, or a new one where one is due; else one that is over. False:
  /// stopped.
  bool find() {
    auto last = last_sweep(store_.with(), store_.declared().id);
    if (last && last->state != sweep_state::over) {
      now_ = std::move(*last);
      return true;
    }
    if (last && (strategy_.repeat_after.count() == 0 ||
                 last->now_us < last->ended_us.value_or(0) +
                                    std::chrono::microseconds(strategy_.repeat_after).count())) {
      return true;
    }
    now_.number = (last ? last->number : 0) + 1;
    now_.state = sweep_state::cutting;
    // That somebody else begins it at the same time is as good.
    return sink_.write([&](db::session& session) { begin_sweep(store_, session); });
  }

  bool write(sweep_record const& next) {
    if (!sink_.write([&](db::session& session) { planners::write(store_, session, next); }))
      return false;
    now_ = next;
    return true;
  }

  [[nodiscard]] std::vector<placed_row> rows(place const& after, place const& until,
                                             std::int64_t limit) const {
    std::vector<placed_row> out;
    core::read(store_.with(),
               [&](db::session& session) { out = table_.rows(session, after, until, limit); });
    return out;
  }

  [[nodiscard]] candidate task_of(page_record const& page) const {
    return {.key = key_of_page(name(), now_.number, page.number),
            .payload = R"({"plan":)" + base::json_text(name()) + R"(,"sweep":)" +
                       std::to_string(now_.number) + R"(,"page":)" + std::to_string(page.number) +
                       R"(,"rows":)" + std::to_string(page.keys.size()) + R"(,"from":)" +
                       shown(page.keys.front()) + R"(,"to":)" + shown(page.keys.back()) + "}"};
  }

  /// Launches them, and writes down how the sweep stands then, in one transaction.
  bool launch(std::vector<page_record> pages, sweep_record next) {
    std::vector<candidate> tasks;
    for (auto& one : pages) {
      one.number = ++next.pages;
      if (one.base == 0) one.base = one.number;
      next.rows += static_cast<std::int64_t>(one.keys.size());
      tasks.push_back(task_of(one));
    }
    bool const on_with_it = sink_.take(
        std::move(tasks), [&](db::session& session, std::span<decision const> decisions) {
          for (std::size_t i = 0; i < pages.size(); ++i) {
            pages[i].state = decisions[i].what == decision::kind::refuse ? page_state::cut
                                                                         : page_state::launched;
            add(store_, session, next.number, pages[i]);
          }
          planners::write(store_, session, next);
        });
    now_ = std::move(next);
    return on_with_it;
  }

  /// Pages of these rows, the first of which is after `low`.
  [[nodiscard]] std::vector<page_record> paged(std::vector<placed_row> rows, place low) const {
    std::vector<page_record> out;
    for (auto& one : rows) {
      if (out.empty() || std::cmp_equal(out.back().keys.size(), strategy_.page)) {
        auto& page = out.emplace_back();
        page.low = std::exchange(low, {});
        if (out.size() > 1) page.low = out[out.size() - 2].high;
      }
      out.back().high = std::move(one.place);
      out.back().keys.push_back(std::move(one.key));
    }
    return out;
  }

  /// So many rows that they are whole pages.
  [[nodiscard]] std::int64_t at_once() const {
    if (strategy_.in_memory) return strategy_.max_rows + 1;
    return std::max<std::int64_t>(rows_at_once / strategy_.page, 1) * strategy_.page;
  }

  /// What is after the last page, as pages of its own. False: stopped.
  bool cut_after(sweep_state then) {
    for (;;) {
      auto found = rows(now_.end, {}, at_once());
      if (strategy_.in_memory && std::cmp_greater(found.size(), strategy_.max_rows)) {
        bad(name(), "table '" + strategy_.table + "' has more than " +
                        std::to_string(strategy_.max_rows) +
                        " rows, which is the most that are held in memory (few): cut it by its "
                        "index instead");
      }
      bool const all = std::cmp_less(found.size(), at_once());
      auto next = now_;
      if (now_.state == sweep_state::closing) {
        next.found += static_cast<std::int64_t>(found.size());
        next.late += static_cast<std::int64_t>(found.size());
      }
      if (all) next.state = then;
      if (found.empty()) return write(next);
      next.end = found.back().place;
      if (!launch(paged(std::move(found), now_.end), std::move(next))) return false;
      if (all) return true;
    }
  }

  bool cut() { return cut_after(sweep_state::working); }

  /// Launches again what was refused, and writes down which tasks have ended on their own.
  bool look_after_pages() {
    auto const open = open_pages(store_, now_.number, pages_looked_at);
    open_ = open.size();
    if (sink_.only_looks()) return true;
    std::vector<open_page> refused;
    std::vector<open_page> over;
    for (auto const& one : open) {
      if (one.state == page_state::cut) {
        refused.push_back(one);
      } else if (auto const how = ended(one.number)) {
        over.push_back({one.number, *how});
      }
    }
    if (!over.empty()) {
      bool const done = sink_.write([&](db::session& session) {
        for (auto const& one : over) {
          db::run(session, store_.with().sql["sweep.page_done"],
                  {store_.declared().id, now_.number, one.number,
                   static_cast<std::int64_t>(one.state), std::int64_t{0}});
        }
      });
      if (!done) return false;
      open_ -= over.size();
    }
    if (open_ == 0 && std::cmp_equal(open.size(), pages_looked_at)) return look_after_pages();
    return std::all_of(refused.begin(), refused.end(),
                       [&](open_page const& one) { return launch_again(one.number); });
  }

  /// How a page's task ended without saying so of the page; empty: it has not.
  [[nodiscard]] std::optional<page_state> ended(std::int64_t page) const {
    std::optional<task_info> task;
    core::read(store_.with(), [&](db::session& session) {
      task = store_.into().find_in(session, key_of_page(name(), now_.number, page));
    });
    if (!task || task->state == task_state::discarded) return page_state::given_up;
    if (task->state == task_state::succeeded) return page_state::done;
    return std::nullopt;
  }

  bool launch_again(std::int64_t number) {
    auto const page = page_of(store_, now_.number, number);
    if (!page) return true;
    return sink_.take({task_of(*page)},
                      [&](db::session& session, std::span<decision const> decisions) {
                        if (decisions[0].what == decision::kind::refuse) return;
                        db::run(session, store_.with().sql["sweep.launched"],
                                {store_.declared().id, now_.number, number});
                      });
  }

  /// Whether no other comparison is to follow those that there were. One that found nothing, and
  /// whose end was cut short or refused, is made again: who knows how long ago it was.
  [[nodiscard]] bool was_compared() const {
    return strategy_.comparisons > 0 && now_.comparisons >= strategy_.comparisons;
  }

  /// Compares the ranges of all pages with the table.
  bool close() {
    for (;;) {
      auto const bases = bases_after(store_, now_.number, now_.compared, bases_at_once);
      for (auto const& one : bases) {
        if (!compare(one)) return false;
      }
      if (bases.empty()) break;
      auto next = now_;
      next.compared = bases.back().number;
      if (!write(next)) return false;
    }
    if (!cut_after(sweep_state::closing)) return false;
    auto next = now_;
    ++next.comparisons;
    next.state = sweep_state::working;
    if (!write(next)) return false;
    return now_.found > 0 || end();
  }

  /// Whether there is no other row in the range of a page than these.
  [[nodiscard]] bool all_seen(page_record const& base, std::vector<row_key> const& before) const {
    std::optional<std::vector<row_key>> now;
    core::read(store_.with(), [&](db::session& session) {
      now = table_.keys(session, base.low, base.high, before.size());
    });
    return now == before;
  }

  /// Rows in the range of a page that nobody has seen become pages of their own.
  bool compare(page_record const& base) {
    auto const before = seen_in(store_, now_.number, base.number);
    if (all_seen(base, before)) return true;
    std::set<row_key> const seen(before.begin(), before.end());
    std::vector<placed_row> fresh;
    auto low = base.low;
    for (auto after = base.low;;) {
      auto found = rows(after, base.high, rows_at_once);
      bool const all = std::cmp_less(found.size(), rows_at_once);
      if (!all) after = found.back().place;
      for (auto& one : found) {
        if (!seen.contains(one.key)) fresh.push_back(std::move(one));
      }
      if (!fresh.empty() && (all || std::cmp_greater_equal(fresh.size(), strategy_.page))) {
        auto const high = fresh.back().place;
        if (!launch_late(base.number, paged(std::exchange(fresh, {}), low))) return false;
        low = high;
      }
      if (all) return true;
    }
  }

  bool launch_late(std::int64_t base, std::vector<page_record> pages) {
    auto next = now_;
    for (auto& one : pages) {
      one.base = base;
      next.found += static_cast<std::int64_t>(one.keys.size());
      next.late += static_cast<std::int64_t>(one.keys.size());
    }
    return launch(std::move(pages), std::move(next));
  }

  /// The task after which no page is left, launched in the transaction that ends the sweep.
  bool end() {
    std::vector<candidate> last{{.key = key_of_end(name(), now_.number),
                                 .payload = R"({"plan":)" + base::json_text(name()) +
                                            R"(,"sweep":)" + std::to_string(now_.number) +
                                            R"(,"pages":)" + std::to_string(now_.pages) +
                                            R"(,"rows":)" + std::to_string(now_.rows) + "}"}};
    auto next = now_;
    next.state = sweep_state::over;
    return sink_.take(std::move(last),
                      [&](db::session& session, std::span<decision const> decisions) {
                        if (decisions[0].what != decision::kind::refuse)
                          planners::write(store_, session, next);
                      });
  }

  store const& store_;
  sweep_strategy const& strategy_;
  sink& sink_;
  keyset table_;
  sweep_record now_;
  std::size_t open_ = 0;
};

}  // namespace

bool feed(store const& store, sweep_strategy const& strategy, sink& sink) {
  return sweeping(store, strategy, sink).go();
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
