// Changes that a person may make in a book, with who and why; and the record of them.
// Thread safety: values.
//
//   book.release(daybook::process{"nightly"}, daybook::key{"2026-11-21"},
//                {.actor = "anna", .reason = "the node hangs in its kernel"});
#pragma once

#include <daybook/time.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace daybook {
inline namespace v1 {

/// Written down with every change a person makes. Each is cut at 255 bytes.
struct audit_note {
  std::string actor;
  std::string reason;
  /// The name of the request that asks for it, 64 bytes at most; empty: none. The book has each
  /// once: a change under a name that is there already throws daybook::error
  /// (error_code::constraint) and changes nothing. Aggregations do not keep it.
  std::string request = {};
};

/// What became of a change to a run by book::release(), restart() or resolve().
enum class change_outcome : std::uint8_t {
  changed,
  unchanged,    ///< there was nothing to change, or a holder of the run is in the way
  no_such_run,  ///< no run has this process and key
};

/// Whether the effect of an at-most-once step, or of a task, happened.
enum class effect_state : std::uint8_t { done, not_done };

/// A person's answer: did an at-most-once step happen?
struct resolution {
  std::string step = {};  ///< empty: the only one that is unknown
  /// not_done: it did not happen, and the next attempt does it
  effect_state effect = effect_state::not_done;
  std::string value = {};  ///< its value, if done
  /// run_info::epoch as the person saw it: a step that began later is not settled. 0: any epoch.
  std::int64_t epoch = 0;
};

/// Which history to delete: attempts that ended before, steps and kept values of finished runs,
/// and holders that ended before and that nothing names any more.
struct prune_options {
  std::chrono::hours older_than{24 * 90};  ///< by the database's clock; at least one hour
  std::string process = {};                ///< empty: all
  /// Also the row of a run that succeeded or was discarded: its key is then as if it had never
  /// been, `once` included.
  bool forget_runs = false;
};

struct prune_report {
  std::int64_t attempts = 0;
  std::int64_t steps = 0;
  std::int64_t values = 0;
  std::int64_t holders = 0;
  std::int64_t runs = 0;
};

struct change_info {
  std::int64_t id = 0;  ///< higher the later it was made; 0 from the verbs of one thing
  timestamp at{};
  std::string actor;
  /// "release", "restart", "resolve", "prune"; of a schedule, queue or planner the verb that
  /// changed it: "pause", "retry", "forget".
  std::string action;
  std::string reason;
  std::string detail;  ///< "step pay: done"
  /// Set by book::changes(changes_query): the run's process, or a schedule's name; "queue:stock",
  /// "plan restock", "tokens".
  std::string process = {};
  std::string key = {};  ///< likewise: of the run, the task, the tick; empty: of the whole
};

/// Which changes of a book to list, the newest first; a text that is empty: any.
struct changes_query {
  std::string actor = {};
  std::string process = {};  ///< as change_info::process
  std::string action = {};
  std::string request = {};  ///< as audit_note::request
  std::optional<timestamp> since = {};
  std::int64_t before = 0;  ///< ids below this: the last one of the page before; 0: the newest
  int limit = 100;          ///< 1 to 10 000
};

}  // namespace v1
}  // namespace daybook
