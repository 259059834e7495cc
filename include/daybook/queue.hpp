// A queue: one task for every key, done once, or again every period. The state of a million keys is
// a thousand rows: see docs/guides/queues.md.
// Thread safety: any thread may call. Lifetime: the book must outlive it.
//
//   auto stock = book.make_queue("stock", {.period = std::chrono::days{10}});
//   stock.add(daybook::key{"product/42"});
//   while (auto batch = stock.claim()) {
//     for (auto const& task : batch->tasks()) batch->finish(task, ask(task.key));
//     std::move(*batch).complete();
//   }
#pragma once

#include <daybook/claim.hpp>
#include <daybook/detail/export.hpp>
#include <daybook/names.hpp>
#include <daybook/operate.hpp>
#include <daybook/outcome.hpp>
#include <daybook/queue_options.hpp>
#include <daybook/task.hpp>
#include <daybook/time.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {

class external_transaction;
class transaction;
class table_sync;
struct synced_table;
namespace queues {
class store;
}  // namespace queues

struct queue_counts {
  std::int64_t members = 0;
  std::int64_t waiting = 0;  ///< due now or later
  std::int64_t due = 0;
  std::int64_t running = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::int64_t dead = 0;
  std::int64_t unknown = 0;
  std::int64_t quarantined = 0;
  std::int64_t discarded = 0;
  std::int64_t segments = 0;  ///< rows that stand for all of these
  std::int64_t claims = 0;
  std::int64_t abandoned = 0;  ///< of those running: in the hands of processes that ended or died
  /// Since when tasks wait that are due, while no live process has any task of the queue in hand.
  std::optional<timestamp> overdue;
  std::optional<timestamp> oldest_due;  ///< since when the oldest due task is due
  std::optional<timestamp> next_due;    ///< when the next of the others is due
};

/// Members are rows of their own, and to count them is to read them; tasks are counted by segments.
enum class counting : std::uint8_t { members_and_tasks, tasks };

/// A queue as it stands in the book.
struct queue_info {
  std::string name;
  queue_options options;
  bool paused = false;
  std::optional<timestamp> round;  ///< the open round, in a queue of rounds
};

/// Which tasks to list.
struct tasks_query {
  task_state state = task_state::waiting;
  std::int64_t after = 0;  ///< ids above this: the last of the page before
  int limit = 100;         ///< 1 to 10000
  /// Only waiting tasks that failed before at this turn.
  bool retrying = false;
};

/// The result of queue::upkeep().
struct maintenance_report {
  std::int64_t merged = 0;     ///< rows saved
  std::int64_t trimmed = 0;    ///< ids without a member, no longer in any row
  std::int64_t rearmed = 0;    ///< rows moved to a new period
  std::int64_t forgotten = 0;  ///< outcomes past the retention
  std::int64_t removed = 0;    ///< members past queue_options::forget_done
};

class DAYBOOK_EXPORT queue {
 public:
  explicit queue(std::shared_ptr<queues::store> inside) : inside_(std::move(inside)) {}

  [[nodiscard]] std::string const& name() const noexcept;
  /// As they were when this process last heard of them.
  [[nodiscard]] queue_options options() const;

  // Members. add() returns false if the key is there already. Then nothing is changed, neither
  // payload nor priority: see set_payload() and set_priority().
  // On failure, all: throws daybook::error.
  bool add(key const& key, task_options const& options = {});
  /// The same as a part of a transaction: of a step's body, or of the application's.
  bool add(transaction& tx, key const& key, task_options const& options = {});
  bool add(external_transaction& tx, key const& key, task_options const& options = {});
  /// Adds the entries that `next` returns, until it returns none. Commits them in pieces.
  import_report import(std::function<std::optional<entry>()> const& next,
                       task_options const& options = {});
  import_report import(std::vector<entry> const& entries, task_options const& options = {});
  /// Of a query's first column, whose values are keys as synced_table::key has them, and its
  /// second, where it has one: the payload. Nothing but a query is executed, and no more than a
  /// page of it is in memory; it takes two connections. `on_progress` is called between pages; it
  /// returns false to stop. On failure: daybook::error, error_code::bad_argument for a bad row; the
  /// rows before it are imported and reported.
  import_report import_query(std::string_view query, task_options const& options = {},
                             std::function<bool(import_report const&)> const& on_progress = {});
  /// Lets the members follow a table: see daybook/table_sync.hpp. To follow another table,
  /// uninstall the triggers and call it again.
  table_sync follow(synced_table const& table);
  table_sync follow(synced_table const& table, audit_note const& note);
  /// The followed table; empty: none.
  [[nodiscard]] std::optional<table_sync> followed() const;
  /// Follows no table any more; the members stay. Uninstall the triggers before.
  bool unfollow();
  bool unfollow(audit_note const& note);
  /// False: there is no such key. A task in hand is finished all the same.
  bool remove(key const& key);
  bool remove(transaction& tx, key const& key);
  bool remove(external_transaction& tx, key const& key);
  bool set_payload(key const& key, std::optional<std::string> const& payload);

  // Changes to one task: written down at once, made by the next claim. False: there is no such key.
  /// Makes the task due now, in front of all others of its priority, also outside of a round. A
  /// task in hand is done again afterwards. Does nothing to a task that waits for a person.
  bool run_now(key const& key);
  /// The same, and forgets its failures and crashes; also for a task that waits for a person.
  bool retry(key const& key);
  /// Gives the task up for this turn; in a queue without a period, for good.
  bool discard(key const& key);
  /// Says how a task of unknown outcome went: it was done; or it was not, and is tried again.
  bool resolve(key const& key, effect_state effect);
  /// Sets the priority from now on, 0 (first) to 9; for a task in hand, from its next turn on. Not
  /// in a queue that keeps an order.
  bool set_priority(key const& task, int priority);

  // The same; the book keeps who and why: see changes().
  bool ask(key const& key, task_request request, audit_note const& note);
  /// The same for all tasks in a state other than running; returns how many. Commits in pieces;
  /// `on_progress` is called after each piece with the number so far.
  std::int64_t ask(task_state state, task_request request, audit_note const& note,
                   std::function<void(std::int64_t)> const& on_progress = {});
  bool set_priority(key const& task, int priority, audit_note const& note);
  bool remove(key const& key, audit_note const& note);
  /// False: it was so already, and nothing was changed.
  bool pause(audit_note const& note);
  bool resume(audit_note const& note);

  /// Claims give nothing while the queue is paused; tasks in hand go on.
  void pause();
  void resume();
  /// Opens a round: claims take the tasks that are due at this instant. False: a later round is
  /// open.
  bool open_round(timestamp at);

  /// Claims a batch of due tasks of the highest priority that has any, the oldest first. Empty:
  /// none is due, or none may start. Also makes the changes that people asked for.
  [[nodiscard]] std::optional<daybook::claim> claim(claim_options const& options = {});
  /// Takes back the claims of dead holders; returns how many. claim() does so, too, when it finds
  /// nothing; a node calls it every few seconds.
  std::int64_t reclaim();
  /// Removes members that were done long ago, merges neighbours, trims holes, follows a changed
  /// period, forgets old outcomes. Call it once a day, on one node at a time. It never holds up
  /// claims.
  maintenance_report upkeep();

  [[nodiscard]] std::optional<task_info> find(key const& key) const;
  /// How many tasks would be in front of this one after run_now(): due tasks of a higher priority,
  /// and those of its own priority that were asked for earlier.
  [[nodiscard]] std::int64_t in_front(key const& task) const;
  /// task_info::remark is set for failed tasks; started and finished are not set.
  [[nodiscard]] std::vector<task_info> tasks(tasks_query const& query = {}) const;
  /// The newest first. Empty also where there is no such key.
  [[nodiscard]] std::vector<task_outcome> outcomes(key const& key, int limit = 100) const;
  /// What people changed, oldest first: of the queue; under a key.
  [[nodiscard]] std::vector<change_info> changes() const;
  [[nodiscard]] std::vector<change_info> changes(key const& key) const;
  [[nodiscard]] queue_info info() const;
  /// Exact for the instant of the call, except that ids of removed members may be counted. With
  /// counting::tasks, queue_counts::members is 0.
  [[nodiscard]] queue_counts counts(counting scope = counting::members_and_tasks) const;

  /// For the other rooms of this library only.
  [[nodiscard]] queues::store& internals() const noexcept { return *inside_; }

 private:
  std::shared_ptr<queues::store> inside_;
};

}  // namespace v1
}  // namespace daybook
