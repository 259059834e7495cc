// A planner: it sees to it that every piece of work that must exist does, once. Where the keys come
// from (events, a query, the calendar, a whole table) is its strategy; the work is tasks of a
// queue. See docs/guides/planners.md.
// Thread safety: any thread may call. Lifetime: the book must outlive it.
//
//   auto orders = book.make_planner("new-orders", {.queue = "fulfil", .strategy = ..., ...});
//   orders.pass();
//   for (auto const& one : orders.refusals()) std::cout << one.key << ": " << one.reason << '\n';
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/operate.hpp>
#include <daybook/planner_options.hpp>
#include <daybook/planner_period.hpp>
#include <daybook/run.hpp>
#include <daybook/sweep.hpp>
#include <daybook/time.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {

namespace planners {
class store;
}  // namespace planners

/// What a pass has done.
struct passed {
  /// False: somebody else is at it; nothing was done. A pause holds nodes back, and no call.
  bool ran = false;
  std::optional<occupant> holder = {};  ///< who, where another is
  std::int64_t seen = 0;                ///< keys that came up
  std::int64_t launched = 0;
  std::int64_t refused = 0;
  std::int64_t present = 0;  ///< whose task was there already, added by others
  std::int64_t failed = 0;   ///< events whose check threw: they are tried again
  bool complete = true;      ///< false: asked to stop before the end, or `most` was reached
};

struct pass_options {
  /// Asked after planner_options::check, where that launches.
  launch_check check = {};
  std::stop_token stop = {};
  /// Called after each page with what was done so far.
  std::function<void(passed const&)> told = {};
};

/// What a pass would decide about a key.
struct plan_preview {
  std::string key;
  bool launched = false;
  std::string reason;  ///< why not
};

/// A key that was not launched when it came up last.
struct refused_key {
  std::string key;
  std::string reason;  ///< the last one
  timestamp first{};
  timestamp last{};
  std::int64_t count = 0;
};

struct refusals_query {
  std::string after = {};  ///< the last key of the page before
  int limit = 100;         ///< 1 to 10 000
};

/// What a planner knows of one key.
struct planned_key {
  std::string key;
  std::int64_t launches = 0;
  std::optional<timestamp> first;  ///< launched
  std::optional<timestamp> last;
  std::int64_t refusals = 0;
  std::optional<timestamp> first_refused;
  std::optional<timestamp> last_refused;
  std::string reason;  ///< of the last refusal
};

struct planner_info {
  std::string name;
  planner_options options;
  bool paused = false;
  std::int64_t passes = 0;
  std::optional<timestamp> last_pass;  ///< when it ended
  std::optional<timestamp> next_pass;  ///< empty: paused
  std::int64_t launched = 0;           ///< by all passes
  std::int64_t refused = 0;            ///< keys that stand so now
  std::string error;                   ///< of the last pass, where it failed
};

class DAYBOOK_EXPORT planner {
 public:
  explicit planner(std::shared_ptr<planners::store> inside) : inside_(std::move(inside)) {}

  [[nodiscard]] std::string const& name() const noexcept;
  /// As it was declared when this was made; passes go by what is declared when they begin.
  [[nodiscard]] planner_options const& options() const noexcept;
  /// What would make a pass cheaper, for people: tables that its query reads whole, and which index
  /// may spare it, by the words of the query.
  [[nodiscard]] std::vector<std::string> advice() const;

  // On failure, all: throws daybook::error.

  /// A pass now: all keys that come up are launched or refused, page by page, each page one
  /// transaction. Exclusive over all nodes, as a run of process "plan NAME"; one that died is gone
  /// on with. As the planner is declared now, maybe by another process; of its SQL (a query, a
  /// check, the table of a sweep) only what this program has declared, too. On failure: throws, and
  /// pages before stay; the error is kept. fault::configuration: the SQL in the book is not this
  /// program's, and nothing was done.
  passed pass(pass_options const& how = {});
  /// What a pass would launch and what not, without launching: the first `limit` keys.
  [[nodiscard]] std::vector<plan_preview> preview(int limit = 100,
                                                  launch_check const& check = {}) const;
  [[nodiscard]] planner_info info() const;
  /// Keys that were not launched when they came up last, in their order.
  [[nodiscard]] std::vector<refused_key> refusals(refusals_query const& what = {}) const;
  /// Empty: it never came up.
  [[nodiscard]] std::optional<planned_key> find(key const& of) const;
  /// The planner forgets a key: it may be launched as if never before. False: it knew of none.
  bool forget(key const& of, remark const& by);
  // Of a sweep; of another strategy: daybook::error (fault::bad_argument).

  /// Begins the next sweep; the passes that follow cut its pages. False: one is under way.
  bool sweep_now(remark const& by);
  /// The newest first; `limit`: 1 to 10 000. Those that ended longer ago than the queue's retention
  /// are forgotten, but for the last.
  [[nodiscard]] std::vector<sweep_info> sweeps(int limit = 10) const;
  /// What one of its tasks stands for. Empty: it is none of its pages, or of a forgotten sweep.
  [[nodiscard]] std::optional<sweep_page> page(key const& task) const;

  /// Nodes make no passes while it is paused. False: it was so already.
  bool pause(remark const& by);
  bool resume(remark const& by);
  /// What people changed, oldest first.
  [[nodiscard]] std::vector<change_info> changes() const;

  // Of a window; of another plan: fault::bad_argument.

  /// Periods that are over, oldest first unless asked otherwise.
  [[nodiscard]] std::vector<period_info> grid(grid_query const& what = {}) const;
  /// Everything before it is done, as the last pass saw it: it never passes a period that failed.
  [[nodiscard]] timestamp watermark() const;
  /// For data that came late: the next pass launches the period once more, whatever came of it
  /// and whatever the rule is; where its task is under way, the first pass after that. False: it
  /// is none, or not launched yet, or reopened already.
  bool reopen(key const& period, remark const& by);

  /// For the other rooms of this library only.
  [[nodiscard]] planners::store& internals() const noexcept { return *inside_; }

 private:
  std::shared_ptr<planners::store> inside_;
};

}  // namespace v1
}  // namespace daybook
