// How a planner is declared: where the keys come from, what is asked before one is launched, and
// into which queue. See docs/guides/planners.md.
// Thread safety: values.
//
//   daybook::planner_options const orders{
//       .queue = "fulfil",
//       .strategy = daybook::query_strategy{"select id from orders where state = 'paid'"},
//       .check = "select 1 from orders where id = :key and state = 'paid' for share"};
#pragma once

#include <daybook/names.hpp>
#include <daybook/task.hpp>
#include <daybook/time.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace daybook {
inline namespace v1 {

class transaction;

/// What earlier instances of a key mean for a new one. An instance is a task of the planner's
/// queue: the first adds the key, a later one is a new turn of it.
enum class launch_rule : std::uint8_t {
  once = 0,           ///< never again, also after its task was removed
  no_overlap = 1,     ///< not while one is waiting, running or its outcome is unknown
  after_failure = 2,  ///< only where the last one failed, was discarded or removed
  always = 3,  ///< whatever there is, unless its outcome is unknown; one that waits stands for both
};

/// What was launched under a key before.
struct earlier_instances {
  std::int64_t count = 0;
  timestamp first{};
  timestamp last{};
  /// Of the last one now; empty: its task was removed.
  std::optional<task_state> state = {};
};

/// A key that might be launched.
struct candidate {
  daybook::key key;
  std::optional<std::string> payload = {};  ///< for the task; a check may change it
  /// Empty: nothing was launched under it.
  std::optional<earlier_instances> earlier = {};
  /// A person asked for it once more (planner::reopen): no rule is asked.
  bool reopened = false;
};

/// What a check has decided.
class launch_verdict {
 public:
  [[nodiscard]] static launch_verdict launch() { return {}; }
  /// `why` is kept, cut at 500 bytes, and shown.
  [[nodiscard]] static launch_verdict refuse(std::string why) {
    launch_verdict out;
    out.refused_ = true;
    out.why_ = std::move(why);
    return out;
  }
  [[nodiscard]] bool refused() const noexcept { return refused_; }
  [[nodiscard]] std::string const& why() const noexcept { return why_; }

 private:
  launch_verdict() = default;
  bool refused_ = false;
  std::string why_;
};

/// Called in the transaction that launches: what it reads with a lock stays so until the instance
/// is there. It may be called again, and has no effect elsewhere. What it throws ends the pass.
using launch_check = std::function<launch_verdict(transaction&, candidate&)>;

/// The rows of a query: the first column is the key, as watched_table::key has them; a second,
/// where there is one, the payload. It is executed once a pass, read a page at a time, and only
/// reads.
struct query_strategy {
  std::string query;
  /// One that takes longer ends the pass; until its first row on MariaDB and SQLite. A second to a
  /// day.
  std::chrono::milliseconds timeout = std::chrono::minutes{10};
};

/// The events of another queue, which has no period: each becomes a task of this planner's queue,
/// under the same key and with its payload, in the transaction that ends the event.
struct inbox_strategy {
  std::string from;
};

/// Periods of the calendar, each of which is launched when it is over; what is not done is due,
/// however long ago. Its key is "2026-11", "2026-11-21", "2026-10-25T02+02:00" or
/// "2026-10-25T02:15+02:00", its payload, unless a check gives another,
/// {"plan": "sales", "from": "2026-11-20T23:00:00Z", "to": "2026-11-21T23:00:00Z"}.
/// How it is cut (each, count, zone) does not change any more.
struct window_strategy {
  enum class unit : std::uint8_t { minute = 0, hour = 1, day = 2, month = 3 };
  unit each = unit::day;
  /// So many minutes, which a day is a multiple of; of the other units 1.
  int count = 1;
  std::string zone = "UTC";
  /// Periods that begin before this are none of its. Not in the future, and not so long ago that
  /// more than a million were to be made.
  timestamp since{};
  bool newest_first = false;
  int most = 1000;  ///< so many are launched in one pass, 1 to 100 000
  /// One that failed is launched again by a pass so long after its launch, unless the rule is once.
  std::chrono::seconds again_after = std::chrono::hours{1};
};

/// Every row of a table, in pages; each page is a task, whose rows daybook::sweep_page knows. What
/// came while pages were worked on is found by a comparison when all are done; when that finds
/// nothing, a last task is launched. Neither the key of a row nor `created` may change.
struct sweep_strategy {
  std::string table;
  std::vector<std::string> key = {};  ///< its columns, unique; empty: the primary key
  std::string created = {};           ///< pages are cut by (this, key); empty: by the key
  /// All keys at once, as one statement sees them, for tables of few rows: no index in the order of
  /// the key is needed. A table of more than `few` is refused.
  bool in_memory = false;
  std::int64_t few = 100'000;
  int page = 1000;  ///< rows, 1 to 10 000
  /// So many comparisons at most, where rows come without end: those that come after the last are
  /// the next sweep's. 0: until one finds nothing.
  int comparisons = 0;
  /// The next sweep begins by itself so long after the last one has ended; 0: when asked for.
  std::chrono::seconds again{0};
};

struct planner_options {
  std::string queue = {};  ///< whose tasks the instances are; without a period
  std::variant<query_strategy, inbox_strategy, window_strategy, sweep_strategy> strategy = {};
  /// Empty: after_failure of a window, whose days that failed are due again; of the others once.
  std::optional<launch_rule> rule = {};
  /// A query with `:key`, asked for each key in the transaction that launches it: it is launched
  /// where there is a row. Locks what it depends on (`for share`; SQLite has one writer). Empty:
  /// nothing is asked.
  std::string check = {};
  /// Between the beginnings of passes of a planner that nodes serve: 100 ms to a year.
  std::chrono::milliseconds every = std::chrono::minutes{1};
  int priority = 5;  ///< of the tasks
  int page = 1000;   ///< keys launched in one transaction, 1 to 10 000
};

}  // namespace v1
}  // namespace daybook
