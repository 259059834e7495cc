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

/// When a key that was launched before is launched again. An instance is a task of the planner's
/// queue: the first adds the key, a later one is a new turn of it.
enum class launch_rule : std::uint8_t {
  once = 0,           ///< never again, also after its task was removed
  no_overlap = 1,     ///< not while one is waiting, running or its outcome is unknown
  after_failure = 2,  ///< only where the last one failed, was discarded or removed
  always = 3,  ///< whatever there is, unless its outcome is unknown; one that waits stands for both
};

/// The earlier instances of a key.
struct earlier_instances {
  std::int64_t count = 0;
  timestamp first{};
  timestamp last{};
  /// The present state of the last one; empty: its task was removed.
  std::optional<task_state> state = {};
};

/// A key that might be launched.
struct candidate {
  daybook::key key;
  std::optional<std::string> payload = {};  ///< for the task; a check may change it
  /// Empty: the key was never launched.
  std::optional<earlier_instances> earlier = {};
  /// A person asked for it once more (planner::reopen): the rule does not apply.
  bool reopened = false;
};

/// The decision of a check.
class check_decision {
 public:
  [[nodiscard]] static check_decision launch() { return {}; }
  /// `why` is kept, cut at 500 bytes, and shown.
  [[nodiscard]] static check_decision refuse(std::string why) {
    check_decision out;
    out.refused_ = true;
    out.why_ = std::move(why);
    return out;
  }
  [[nodiscard]] bool refused() const noexcept { return refused_; }
  [[nodiscard]] std::string const& why() const noexcept { return why_; }

 private:
  check_decision() = default;
  bool refused_ = false;
  std::string why_;
};

/// Called in the transaction that launches: rows that it reads with a lock stay locked until the
/// instance is there. It may be called again, so it must have no effect elsewhere. An exception
/// ends the pass.
using launch_check = std::function<check_decision(transaction&, candidate&)>;

/// The rows of a query: the first column is the key, as synced_table::key has them; a second,
/// where there is one, the payload. It is executed once a pass, read a page at a time, and only
/// reads.
struct query_strategy {
  std::string query;
  /// A query that takes longer ends the pass; on MariaDB and SQLite, until its first row. A second
  /// to a day.
  std::chrono::milliseconds timeout = std::chrono::minutes{10};
};

/// The events of another queue, which has no period: each becomes a task of this planner's queue,
/// under the same key and with its payload, in the transaction that ends the event.
struct inbox_strategy {
  std::string from;
};

/// Periods of the calendar. Each is launched when it is over, and due until it is done, however
/// long ago. Its key is "2026-11", "2026-11-21", "2026-10-25T02+02:00" or "2026-10-25T02:15+02:00",
/// its payload, unless a check gives another, {"plan": "sales", "from": "2026-11-20T23:00:00Z",
/// "to": "2026-11-21T23:00:00Z"}. each, count and zone cannot be changed later.
struct window_strategy {
  enum class unit : std::uint8_t { minute = 0, hour = 1, day = 2, month = 3 };
  unit each = unit::day;
  /// So many minutes, which a day is a multiple of; of the other units 1.
  int count = 1;
  std::string zone = "UTC";
  /// Periods that begin before this are left out. Not in the future, and not more than a million
  /// periods ago.
  timestamp since{};
  bool newest_first = false;
  int max_periods = 1000;  ///< the most periods launched in one pass, 1 to 100 000
  /// A failed period is launched again this long after its launch, unless the rule is once.
  std::chrono::seconds retry_after = std::chrono::hours{1};
};

/// Every row of a table, in pages; each page is a task, whose rows daybook::sweep_page knows. When
/// all pages are done, a comparison finds rows that came meanwhile; when it finds none, a last task
/// is launched. Neither the key of a row nor `created` may change.
struct sweep_strategy {
  std::string table;
  std::vector<std::string> key = {};  ///< its columns, unique; empty: the primary key
  std::string created = {};           ///< pages are cut by (this, key); empty: by the key
  /// All keys at once, as one statement sees them, for tables of few rows: no index in the order of
  /// the key is needed. A table of more than `max_rows` is refused.
  bool in_memory = false;
  std::int64_t max_rows = 100'000;
  int page = 1000;  ///< rows, 1 to 10 000
  /// The most comparisons, for a table where rows come without end: rows after the last one belong
  /// to the next sweep. 0: until one finds nothing.
  int comparisons = 0;
  /// The next sweep begins this long after the last one has ended; 0: only when asked for.
  std::chrono::seconds repeat_after{0};
};

struct planner_options {
  std::string queue = {};  ///< the queue of the instances; without a period
  std::variant<query_strategy, inbox_strategy, window_strategy, sweep_strategy> strategy = {};
  /// Empty: after_failure of a window, whose days that failed are due again; of the others once.
  std::optional<launch_rule> rule = {};
  /// A query with `:key`, asked for each key in the transaction that launches it: it is launched
  /// where there is a row. Locks what it depends on (`for share`; SQLite has one writer). Empty:
  /// nothing is asked.
  std::string check = {};
  /// The time from the beginning of one pass to that of the next: 100 ms to a year.
  std::chrono::milliseconds every = std::chrono::minutes{1};
  int priority = 5;  ///< of the tasks
  int page = 1000;   ///< keys launched in one transaction, 1 to 10 000
};

}  // namespace v1
}  // namespace daybook
