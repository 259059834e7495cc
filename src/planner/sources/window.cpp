// The periods of a calendar: made when they are over, launched, and followed until they are done.
#include "base/rows.hpp"
#include "base/text.hpp"
#include "db/cells.hpp"
#include "planner/sources/period_rows.hpp"
#include "planner/strategy.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace planners {

namespace {

using std::chrono::microseconds;
using course = open_period::course;

void add_start(base::rows& rows, period const& one) { rows.begin().add(db::us_of(one.start)); }

class window {
 public:
  window(store const& store, window_strategy const& strategy, sink& sink)
      : store_(store),
        strategy_(strategy),
        sink_(sink),
        there_(bounds_of(store.with(), store.declared().id, strategy.since)),
        periods_(strategy, there_.first, there_.last),
        left_(strategy.max_periods) {}

  // Each: false where it was stopped before its end.

  /// Rows for the periods that are over. Those before the first, where the plan begins sooner now,
  /// from the last on; those after the last also where the plan begins later now: rows are without
  /// a gap whenever it is stopped, and when it begins sooner again none is missing between them.
  bool make() {
    auto sooner = before_first(true);
    walk late(periods_, end(), there_.now, false);
    return make_all(sooner) && make_all(late);
  }

  /// What has become of those that were launched: done, or due again. Of those before the first,
  /// where the plan begins later now, that they are done: the queue keeps their tasks until then.
  bool look_after_launched() {
    auto mark = timestamp::min();
    for (;;) {
      auto const page = read_all(page_of_periods::state::launched, false, mark, size());
      if (page.empty()) return true;
      mark = page.back().what.start;
      base::rows done;
      base::rows again;
      std::vector<open_period> failed;
      for (auto const& one : page) {
        if (one.task == course::succeeded) add_start(done, one.what);
        if (one.what.start < strategy_.since || !due_again(one)) continue;
        add_start(again, one.what);
        failed.push_back(one);
      }
      if (sink_.only_looks()) {
        if (!failed.empty() && !sink_.take(candidates(failed))) return false;
      } else if (!put(done, again)) {
        return false;
      }
    }
  }

  /// Also where there are more than a pass launches.
  bool launch_due() {
    auto mark = strategy_.newest_first ? there_.now : strategy_.since - microseconds{1};
    while (left_ > 0) {
      auto page =
          read(page_of_periods::state::due, strategy_.newest_first, mark, std::min(size(), left_));
      if (page.empty()) return true;
      mark = page.back().what.start;
      if (!launch(std::move(page))) return false;
    }
    return read(page_of_periods::state::due, strategy_.newest_first, mark, 1).empty();
  }

  /// What launch_due() would find if make() were called before it.
  bool look_at_due() {
    auto sooner = before_first(strategy_.newest_first);
    walk late(periods_, std::max(end(), strategy_.since), there_.now, strategy_.newest_first);
    return look_at_all(strategy_.newest_first ? late : sooner) && launch_due() &&
           look_at_all(strategy_.newest_first ? sooner : late);
  }

 private:
  [[nodiscard]] walk before_first(bool newest_first) const {
    return {periods_, strategy_.since, there_.first ? there_.first->start : strategy_.since,
            newest_first};
  }
  /// Where rows end.
  [[nodiscard]] timestamp end() const { return there_.last ? there_.last->end : strategy_.since; }
  [[nodiscard]] std::int64_t size() const { return store_.declared().options.page; }
  [[nodiscard]] std::vector<open_period> read(page_of_periods::state state, bool newest_first,
                                              timestamp mark, std::int64_t limit) const {
    auto page = read_all(state, newest_first, mark, limit);
    std::erase_if(page, [&](open_period const& one) { return one.what.start < strategy_.since; });
    return page;
  }
  /// With rows of a time when the plan began sooner.
  [[nodiscard]] std::vector<open_period> read_all(page_of_periods::state state, bool newest_first,
                                                  timestamp mark, std::int64_t limit) const {
    return read_open(store_.with(), store_.declared().id, store_.into().present().id,
                     {.of = state, .newest_first = newest_first, .mark = mark, .limit = limit});
  }

  bool make_all(walk& walk) {
    for (;;) {
      base::rows page;
      std::optional<period> one;
      for (auto room = size(); room > 0 && (one = walk.next()); --room) {
        add_start(page, *one);
        page.add(db::us_of(one->end)).add(std::string_view(one->key));
      }
      if (page.empty()) return true;
      if (!sink_.write([&](db::session& session) { run(session, "period.add", page); }))
        return false;
    }
  }

  bool look_at_all(walk& walk) {
    while (left_ > 0) {
      std::vector<open_period> page;
      std::optional<period> one;
      while (std::cmp_less(page.size(), std::min(size(), left_)) && (one = walk.next())) {
        page.push_back({.what = std::move(*one)});
      }
      if (page.empty()) return true;
      left_ -= static_cast<std::int64_t>(page.size());
      if (!sink_.take(candidates(page))) return false;
    }
    return true;
  }

  [[nodiscard]] bool due_again(open_period const& one) const {
    if (one.task != course::failed && one.task != course::none) return false;
    return rule_of(store_.declared().options) != launch_rule::once &&
           there_.now - one.launched.value_or(timestamp{}) >= strategy_.retry_after;
  }

  bool put(base::rows const& done, base::rows const& again) {
    if (done.empty() && again.empty()) return true;
    return sink_.write([&](db::session& session) {
      if (!done.empty()) run(session, "period.done", done);
      if (!again.empty()) run(session, "period.again", again);
    });
  }

  /// A page of due ones.
  bool launch(std::vector<open_period> page) {
    base::rows followed;  // somebody else saw to it that their task goes on
    std::erase_if(page, [&](open_period const& one) {
      bool const goes_on = one.task == course::under_way || one.task == course::succeeded;
      if (one.reopened) return one.task == course::under_way;
      if (!one.launched_before || !goes_on) return false;
      add_start(followed, one.what);
      return true;
    });
    if (!followed.empty() &&
        !sink_.write([&](db::session& session) { run(session, "period.follow", followed); })) {
      return false;
    }
    if (page.empty()) return true;
    std::int64_t launched = sink_.only_looks() ? static_cast<std::int64_t>(page.size()) : 0;
    bool const more = sink_.take(candidates(page), [&](db::session& session, auto const& what) {
      launched = write(session, page, what);
    });
    left_ -= launched;
    return more;
  }

  /// How many were launched.
  std::int64_t write(db::session& session, std::vector<open_period> const& page,
                     std::span<decision const> decisions) const {
    base::rows launched;
    base::rows followed;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < page.size(); ++i) {
      switch (decisions[i].what) {
        case decision::kind::launch:
        case decision::kind::again:
          add_start(launched, page[i].what);
          ++count;
          break;
        case decision::kind::pass_over: add_start(followed, page[i].what); break;
        case decision::kind::refuse: break;
      }
    }
    if (!launched.empty()) run(session, "period.launch", launched);
    if (!followed.empty()) run(session, "period.follow", followed);
    return count;
  }

  void run(db::session& session, std::string_view statement, base::rows const& rows) const {
    db::run(session, store_.with().sql[statement],
            {store_.declared().id, std::string_view(rows.text())});
  }

  [[nodiscard]] std::vector<candidate> candidates(std::vector<open_period> const& periods) const {
    auto const name = base::json_text(store_.declared().name);
    std::vector<candidate> out;
    out.reserve(periods.size());
    for (auto const& one : periods) {
      auto payload = R"({"plan": )" + name + R"(, "from": ")" + utc_text(one.what.start) +
                     R"(", "to": ")" + utc_text(one.what.end) + R"("})";
      out.push_back(
          {.key = key(one.what.key), .payload = std::move(payload), .reopened = one.reopened});
    }
    return out;
  }

  store const& store_;
  window_strategy const& strategy_;
  sink& sink_;
  bounds there_;
  periods periods_;
  std::int64_t left_;  ///< to launch
};

}  // namespace

bool feed(store const& store, window_strategy const& strategy, sink& sink) {
  window mine(store, strategy, sink);
  if (sink.only_looks()) return mine.look_after_launched() && mine.look_at_due();
  return mine.make() && mine.look_after_launched() && mine.launch_due();
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
