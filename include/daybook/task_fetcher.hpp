// One claimer for all the threads of a process: it claims batches ahead of them, hands their tasks
// out one by one, and writes down what they have finished, many at a time.
// Thread safety: any thread may call. Lifetime: the queue's book must outlive it.
//
//   daybook::task_fetcher out(stock, {.batch = 500});
//   auto const work = [&](std::stop_token stop) {  // in as many threads as you like
//     while (auto one = out.next(stop)) one->finish(ask(one->task().key));
//   };
//   ...
//   out.stop();
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/outcome.hpp>
#include <daybook/task.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace daybook {
inline namespace v1 {

class external_transaction;
class queue;
class transaction;
namespace queues {
class dispenser;
class drainer;
struct hand;
}  // namespace queues

struct task_fetcher_options {
  /// The most tasks in one claim, 1 to 10000. If tasks are slow, claims take fewer: about ten
  /// seconds of work for each thread.
  int batch = 1000;
  /// How many claims to have in hand beyond the present one, 0 to 100.
  int ahead = 1;
  /// Finished tasks are written down within this time. A crash repeats that much. 1 ms to a minute.
  std::chrono::milliseconds flush_every = std::chrono::seconds{1};
  /// How often to ask when nothing is due, with a jitter of a quarter: one statement each time. 1
  /// ms to an hour. It finds work that nobody announces; see task_fetcher.
  std::chrono::milliseconds poll = std::chrono::seconds{1};
  /// beginning::announced: a task has begun when claimed_task::begin() has said so.
  daybook::beginning beginning = beginning::with_claim;
};

/// One task in a thread's hands. A task that is dropped without a result has failed (in a queue of
/// step_mode::at_most_once its outcome is unknown). So a task whose handler always throws is not
/// tried for ever.
/// Thread safety: one thread at a time, not necessarily the one that called next().
/// Lifetime: finished or dropped before its task_fetcher ends, which waits for it.
class DAYBOOK_EXPORT claimed_task {
 public:
  claimed_task(claimed_task&& other) noexcept;
  claimed_task& operator=(claimed_task&& other) noexcept;
  ~claimed_task();

  [[nodiscard]] daybook::task const& task() const noexcept;
  /// As claim::idempotency_key().
  [[nodiscard]] std::string idempotency_key() const;
  /// A stop is requested when another has the claim: work done from then on may be done twice.
  [[nodiscard]] std::stop_token lost() const noexcept;

  /// As claim::begin(), where task_fetcher_options::beginning is announced; nothing else calls for
  /// it.
  outcome begin();

  // A second result is daybook::error (error_code::bad_argument).

  /// Notes how it ended, and never waits for the database. outcome::done: it will be in the ledger
  /// within task_fetcher_options::flush_every, or when the database is back; or, if the claim is
  /// lost until then, not at all. outcome::lost: nothing will be written.
  outcome finish(result result);
  /// As claim::perform(): exactly once. On failure: throws daybook::error, or what the body throws;
  /// the task is not finished, and may be given a result.
  outcome perform(std::function<void(transaction&)> const& body);
  /// As claim::finish_in(). Keep this object until your transaction has ended. False: lost.
  /// On failure: throws daybook::error; the task is not finished.
  bool finish_in(external_transaction& yours);
  /// The same with several of one queue, of whatever claims. Lost: of those whose claim was lost
  /// nothing more can be written, the others wait for a result still.
  static outcome perform(std::span<claimed_task* const> all,
                         std::function<void(transaction&)> const& body);
  /// When false, and on failure: roll your transaction back.
  static bool finish_in(external_transaction& yours, std::span<claimed_task* const> all);
  /// Not done, and not counted as an attempt: due again as it was, once its claim has ended.
  void hand_back();
  /// Whether it has a result, or was handed back.
  [[nodiscard]] bool finished() const noexcept { return !open_ || in_theirs_; }

 private:
  friend class queues::dispenser;
  friend class queues::drainer;
  claimed_task(std::shared_ptr<queues::hand> claim, std::size_t index) noexcept;
  class together;
  void check_open() const;
  void drop() noexcept;
  void leave(bool lost) noexcept;

  std::shared_ptr<queues::hand> claim_;
  std::size_t index_;
  std::chrono::steady_clock::time_point since_;
  bool open_ = true;        ///< the claim still waits for a result from this handle
  bool in_theirs_ = false;  ///< finished in a transaction of the application's
};

struct task_fetcher_counts {
  std::size_t claims = 0;     ///< in hand
  std::size_t waiting = 0;    ///< tasks in hand that no thread has yet
  std::size_t working = 0;    ///< in the threads' hands
  std::size_t unwritten = 0;  ///< finished, and not in the ledger yet
};

/// Quarantined tasks (task_state::quarantined) are handed out one at a time, beside all else. One
/// that has crashed twice, or whose next crash is its last, is handed out when the threads have
/// finished what they have, and nothing else is until it has ended; neither for longer than 20
/// seconds, after which it is tried again later, or others go on beside it. Two task fetchers in
/// one process do not know of each other's.
///
/// A task is handed out when the book knows that it begins. In a queue of step_mode::at_most_once
/// that is written for each task; else ahead, for the tasks that begin within half of flush_every.
/// Tasks that were not begun when the process dies are not quarantined.
///
/// A process that has not renewed its lease for two thirds of it, by its own clock, hands nothing
/// out and claims nothing until it has: others may soon take it for dead.
///
/// It never has more than batch * (ahead + 1) tasks in hand, including finished ones that are not
/// in the ledger yet: so a slow database is asked for no more work. It keeps results that it cannot
/// write while the database is away, and writes them later.
///
/// It hears at once of work that this process adds and, on SQLite and PostgreSQL, of work that
/// others add; for that it has a connection of its own beside those of the pool. On MariaDB, behind
/// a pooler and on lent connections the poll finds work that others or joined transactions add. On
/// every engine the poll finds tasks that other processes hand back.
///
/// Faults of the database are told to the observer (observer::retried, "hand_out") and tried again
/// after a pause; no call of a thread throws them but perform() and finish_in().
class DAYBOOK_EXPORT task_fetcher {
 public:
  /// Starts the claimer's thread; it claims when the first thread asks for a task.
  /// On failure: daybook::error, error_code::bad_argument for options out of their range, or a
  /// borrowed book, which belongs to one thread.
  explicit task_fetcher(queue const& queue, task_fetcher_options options = {});
  task_fetcher(task_fetcher const&) = delete;
  task_fetcher& operator=(task_fetcher const&) = delete;
  /// As stop().
  ~task_fetcher();

  /// Waits for a task; if the queue has a rate, until the task's slot. Empty: asked to stop, or
  /// closed. On failure: daybook::error (error_code::forked) in a child of fork().
  [[nodiscard]] std::optional<claimed_task> next(std::stop_token stop = {});
  /// The same for several: waits for the first, and then until there are `max_tasks`, or `gather`
  /// is over. A quarantined task comes by itself. `max_tasks`: 1 to 10000; `gather`: 0 to an hour.
  /// On failure: as next(); daybook::error (error_code::bad_argument).
  [[nodiscard]] std::vector<claimed_task> next_batch(std::size_t max_tasks,
                                                     std::chrono::milliseconds gather,
                                                     std::stop_token stop = {});
  /// Sets other options for the next claims. On failure: daybook::error (error_code::bad_argument).
  void change(task_fetcher_options options);
  /// Asks the database for work at once.
  void wake() noexcept;

  /// Gives no more tasks; returns at once.
  void close() noexcept;
  /// Closes, waits until the threads have finished what they have, writes that down and hands back
  /// the rest. Never throws: when the database is away for longer than the lease, what was not
  /// written is told to the observer, and done again by another. Not to be called by a thread that
  /// has a task in hand: it would wait for itself.
  void stop() noexcept;

  [[nodiscard]] task_fetcher_counts counts() const;

 private:
  std::shared_ptr<queues::dispenser> inside_;
};

}  // namespace v1
}  // namespace daybook
