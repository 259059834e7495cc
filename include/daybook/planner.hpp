// A planner makes sure that each piece of work that must exist is a task in a queue, once. Its
// strategy says where the keys come from: events, a query, the calendar, a whole table. See
// docs/guides/planners.md.
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

/// The result of a pass.
struct pass_report {
  /// False if another process is making a pass; then nothing was done. A pause stops nodes, not
  /// explicit calls.
  bool ran = false;
  std::optional<lease_holder> holder = {};  ///< the process that makes it, if another does
  std::int64_t seen = 0;                    ///< keys that came up
  std::int64_t launched = 0;
  std::int64_t refused = 0;
  std::int64_t present = 0;  ///< their task was there already, added by others
  std::int64_t failed = 0;   ///< events whose check threw: they are tried again
  bool complete = true;      ///< false: asked to stop before the end, or `max_periods` was reached
};

struct pass_options {
  /// Called after planner_options::check, if that says launch.
  launch_check check = {};
  std::stop_token stop = {};
  /// Called after each page with what was done so far.
  std::function<void(pass_report const&)> on_progress = {};
};

/// The decision that a pass would make about a key.
struct plan_preview {
  std::string key;
  bool launched = false;
  std::string reason;  ///< why not
};

/// A key that was refused when it last came up.
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

/// A planner's knowledge of one key.
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
  std::int64_t refused = 0;            ///< keys that are refused now
  std::string error;                   ///< of the last pass, if it failed
};

class DAYBOOK_EXPORT planner {
 public:
  explicit planner(std::shared_ptr<planners::store> inside) : inside_(std::move(inside)) {}

  [[nodiscard]] std::string const& name() const noexcept;
  /// The declaration when this object was made. A pass uses the declaration in force when it
  /// starts.
  [[nodiscard]] planner_options const& options() const noexcept;
  /// Advice for people, by the words of the query: the tables that it reads whole, and an index
  /// that may avoid this.
  [[nodiscard]] std::vector<std::string> advice() const;

  // On failure, all: throws daybook::error.

  /// Makes a pass now: launches or refuses all keys that come up, page by page, each page in one
  /// transaction. One node at a time, as a run of process "plan NAME"; after a crash the next pass
  /// goes on. It uses the declaration in force now, maybe another process's, but only SQL (a query,
  /// a check, the table of a sweep) that this program has declared, too. On failure: throws;
  /// earlier pages stay, and the error is kept. error_code::configuration: the SQL in the book is
  /// not this program's, and nothing was done.
  pass_report pass(pass_options const& options = {});
  /// The keys that a pass would launch, and those it would not: the first `limit`. Launches
  /// nothing.
  [[nodiscard]] std::vector<plan_preview> preview(int limit = 100,
                                                  launch_check const& check = {}) const;
  [[nodiscard]] planner_info info() const;
  /// Keys that were refused when they last came up, in the order of keys.
  [[nodiscard]] std::vector<refused_key> refusals(refusals_query const& query = {}) const;
  /// Empty: the key never came up.
  [[nodiscard]] std::optional<planned_key> find(key const& key) const;
  /// Forgets a key, so that it may be launched as if never before. False: the key was not known.
  bool forget(key const& key, audit_note const& note);
  // For a sweep only; else daybook::error (error_code::bad_argument).

  /// Begins the next sweep; the passes that follow cut its pages. False: one is under way.
  bool sweep_now(audit_note const& note);
  /// The newest first; `limit`: 1 to 10 000. Sweeps that ended longer ago than the queue's
  /// retention are forgotten, except the last.
  [[nodiscard]] std::vector<sweep_info> sweeps(int limit = 10) const;
  /// The page that a task stands for. Empty: the task is no page of this planner, or its sweep is
  /// forgotten.
  [[nodiscard]] std::optional<sweep_page> page(key const& task) const;

  /// Nodes make no passes while the planner is paused. False: nothing was changed.
  bool pause(audit_note const& note);
  bool resume(audit_note const& note);
  /// What people changed, oldest first.
  [[nodiscard]] std::vector<change_info> changes() const;

  // For a window only; else error_code::bad_argument.

  /// Periods that are over, by default the oldest first.
  [[nodiscard]] std::vector<period_info> grid(grid_query const& query = {}) const;
  /// All periods before it are done, as the last pass saw it. It never passes a failed period.
  [[nodiscard]] timestamp watermark() const;
  /// For late data: the next pass launches the period once more, whatever its state and the rule;
  /// if its task is under way, the first pass after that. False: there is no such period, it is not
  /// launched yet, or it is reopened already.
  bool reopen(key const& period, audit_note const& note);

  /// For the other rooms of this library only.
  [[nodiscard]] planners::store& internals() const noexcept { return *inside_; }

 private:
  std::shared_ptr<planners::store> inside_;
};

}  // namespace v1
}  // namespace daybook
