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

class joined;
class transaction;
class watch;
struct watched_table;
namespace queues {
class store;
}  // namespace queues

struct queue_counts {
  std::int64_t members = 0;
  std::int64_t waiting = 0;  ///< of them due
  std::int64_t due = 0;
  std::int64_t running = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::int64_t dead = 0;
  std::int64_t unknown = 0;
  std::int64_t suspect = 0;
  std::int64_t discarded = 0;
  std::int64_t segments = 0;  ///< rows that stand for all of these
  std::int64_t claims = 0;
  std::int64_t abandoned = 0;  ///< of those running: in the hands of processes that ended or died
  /// Since when the oldest that is due waits, and no live process has any task of the queue in
  /// hand.
  std::optional<timestamp> overdue;
  std::optional<timestamp> oldest_due;  ///< since when the oldest that is due has been
  std::optional<timestamp> next_due;    ///< when the first of the others will be
};

/// Members are rows of their own, and to count them is to read them; tasks are counted by segments.
enum class counting : std::uint8_t { members_and_tasks, tasks };

/// A queue as it stands in the book.
struct queue_info {
  std::string name;
  queue_options options;
  bool paused = false;
  std::optional<timestamp> round;  ///< that is open, in a queue of rounds
};

/// Which tasks to list.
struct tasks_query {
  task_state state = task_state::waiting;
  std::int64_t after = 0;  ///< ids above this: the last of the page before
  int limit = 100;         ///< 1 to 10000
  /// Of those that wait, only those that have failed at this turn, and are tried again.
  bool retrying = false;
};

/// What one pass of upkeep did.
struct upkept {
  std::int64_t merged = 0;     ///< rows saved
  std::int64_t trimmed = 0;    ///< ids without a member that are covered no more
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

  // Members. False from add: the key is there already, and nothing was changed, also not its
  // payload and priority: see set_payload() and set_priority().
  // On failure, all: throws daybook::error.
  bool add(key const& of, task_options const& how = {});
  /// In the transaction of a step's body, or in one of the application's: part of it.
  bool add(transaction& in, key const& of, task_options const& how = {});
  bool add(joined& in, key const& of, task_options const& how = {});
  /// As many as `next` gives, until it gives none; in pieces that are committed one by one.
  imported import(std::function<std::optional<entry>()> const& next, task_options const& how = {});
  imported import(std::vector<entry> const& entries, task_options const& how = {});
  /// Of a query's first column, whose values are keys as watched_table::key has them, and its
  /// second, where it has one: the payload. Nothing but a query is executed, and no more than a
  /// page of it is in memory; it takes two connections. `told` is called between pages; false from
  /// it: no more for now. On failure: daybook::error, fault::bad_argument for a row that cannot be;
  /// what stands before it is imported, and was told.
  imported import_query(std::string_view query, task_options const& how = {},
                        std::function<bool(imported const&)> const& told = {});
  /// Has its members follow a table: see daybook/watch.hpp. Again, with another table, follows that
  /// instead; triggers on the former must have been uninstalled.
  daybook::watch watch(watched_table const& of);
  daybook::watch watch(watched_table const& of, remark const& by);
  /// What it follows; empty: nothing.
  [[nodiscard]] std::optional<daybook::watch> watched() const;
  /// Follows it no more; the members stay. Its triggers must have been uninstalled.
  bool unwatch();
  bool unwatch(remark const& by);
  /// False: there is no such key. A task in hand is finished all the same.
  bool remove(key const& of);
  bool remove(transaction& in, key const& of);
  bool remove(joined& in, key const& of);
  bool set_payload(key const& of, std::optional<std::string> const& payload);

  // What people ask for: written down, and done by the next claim. False: there is no such key.
  /// Due now, at its turn, before all others of its priority, and in a queue of rounds in none; one
  /// in hand again after that. Nothing for those that wait for a person.
  bool run_now(key const& of);
  /// The same with no attempt or crash counted: also those that wait for a person.
  bool retry(key const& of);
  /// Not to be done at this turn, or ever in a queue without a period.
  bool discard(key const& of);
  /// One whose outcome is unknown: it was done; or it was not, and is tried again.
  bool resolve(key const& of, bool done);
  /// From now on, 0 (first) to 9; of one in hand from its next turn on. Not in a queue in order.
  bool set_priority(key const& task, int priority);

  // The same with who and why: kept in the book, and read with changes().
  bool ask(key const& of, task_request what, remark const& by);
  /// Of all tasks that are in a state now, but not running: how many. In pieces that are committed
  /// one by one; `told` is called between them with how many by now.
  std::int64_t ask(task_state in, task_request what, remark const& by,
                   std::function<void(std::int64_t)> const& told = {});
  bool set_priority(key const& task, int priority, remark const& by);
  bool remove(key const& of, remark const& by);
  /// False: it was so already, and nothing was changed.
  bool pause(remark const& by);
  bool resume(remark const& by);

  /// Claims give nothing while it is paused; what is in hand goes on.
  void pause();
  void resume();
  /// In a queue of rounds: claims take what is due at this instant. False: a later one is open.
  bool open_round(timestamp at);

  /// A batch of due tasks of the highest priority that has any, the oldest first; empty: none is
  /// due, or may start. Also attends to what people asked for.
  [[nodiscard]] std::optional<daybook::claim> claim(claim_options const& how = {});
  /// Takes back what dead holders had in hand; how many claims. claim() does so, too, when it finds
  /// nothing; a node calls it every few seconds.
  std::int64_t reclaim();
  /// Removes members that were done for long, merges neighbours, trims holes, follows a changed
  /// period, forgets old outcomes: once a day, on one node at a time. Never in the way of claims.
  upkept upkeep();

  [[nodiscard]] std::optional<task_info> find(key const& of) const;
  /// How many tasks claims take before this one, were it asked for now: due ones of a higher
  /// priority, and those of its own that were asked for sooner.
  [[nodiscard]] std::int64_t in_front(key const& task) const;
  /// task_info::remark is there of those that have failed; started and finished are not.
  [[nodiscard]] std::vector<task_info> tasks(tasks_query const& what = {}) const;
  /// The newest first. Empty also where there is no such key.
  [[nodiscard]] std::vector<task_outcome> outcomes(key const& of, int limit = 100) const;
  /// What people changed, oldest first: of the queue; under a key.
  [[nodiscard]] std::vector<change_info> changes() const;
  [[nodiscard]] std::vector<change_info> changes(key const& of) const;
  [[nodiscard]] queue_info info() const;
  /// Exact for the instant it is asked, but for ids whose member was removed.
  /// With counting::tasks, queue_counts::members is 0.
  [[nodiscard]] queue_counts counts(counting things = counting::members_and_tasks) const;

  /// For the other rooms of this library only.
  [[nodiscard]] queues::store& internals() const noexcept { return *inside_; }

 private:
  std::shared_ptr<queues::store> inside_;
};

}  // namespace v1
}  // namespace daybook
