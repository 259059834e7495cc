// One claimer for all the threads of a process: it claims batches ahead of them, hands their tasks
// out one by one, and writes down what they have finished, many at a time.
// Thread safety: any thread may call. Lifetime: the queue's book must outlive it.
//
//   daybook::hand_out out(stock, {.batch = 500});
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

class joined;
class queue;
class transaction;
namespace queues {
class dispenser;
class drainer;
struct hand;
}  // namespace queues

struct hand_out_options {
  /// A claim takes so many tasks at most, 1 to 10000; fewer where they take long, so that about ten
  /// seconds of work for each thread are in hand.
  int batch = 1000;
  /// Claims in hand beyond the one that is worked off, 0 to 100.
  int ahead = 1;
  /// What is finished is written down within so long: what a crash repeats. 1 ms to a minute.
  std::chrono::milliseconds flush_every = std::chrono::seconds{1};
  /// How often to ask when nothing is due, with a jitter of a quarter: one statement each time. 1
  /// ms to an hour. It finds what nobody tells of; see hand_out.
  std::chrono::milliseconds poll = std::chrono::seconds{1};
  /// beginning::announced: a task that is handed out has begun when handed::begin() has said so.
  daybook::beginning beginning = beginning::with_claim;
};

/// One task in a thread's hands. Dropped without a result it has failed (in a queue of
/// step_mode::at_most_once its outcome is unknown), so that a task that always throws is not tried
/// for ever.
/// Thread safety: one thread at a time; another than next() was called by will do.
/// Lifetime: finished or dropped before its hand_out ends, which waits for it.
class DAYBOOK_EXPORT handed {
 public:
  handed(handed&& from) noexcept;
  handed& operator=(handed&& from) noexcept;
  ~handed();

  [[nodiscard]] daybook::task const& task() const noexcept;
  /// As claim::idempotency_key().
  [[nodiscard]] std::string idempotency_key() const;
  /// Asked to stop when the claim is known to be another's: what is done from then on may be done
  /// twice.
  [[nodiscard]] std::stop_token lost() const noexcept;

  /// As claim::begin(), where hand_out_options::beginning is announced; nothing else calls for it.
  outcome begin();

  // A second result is daybook::error (fault::bad_argument).

  /// Notes how it ended, and never waits for the database. outcome::done: it will be in the ledger
  /// within hand_out_options::flush_every, or when the database is back; or, if the claim is lost
  /// until then, not at all. outcome::lost: nothing will be written.
  outcome finish(result how);
  /// As claim::perform(): exactly once. On failure: throws daybook::error, or what the body throws;
  /// the task is not finished, and may be given a result.
  outcome perform(std::function<void(transaction&)> const& body);
  /// As claim::finish_in(). Keep this object until your transaction has ended. False: lost.
  /// On failure: throws daybook::error; the task is not finished.
  bool finish_in(joined& yours);
  /// The same with several of one queue, of whatever claims. Lost: of those whose claim was lost
  /// nothing more can be written, the others wait for a result still.
  static outcome perform(std::span<handed* const> all,
                         std::function<void(transaction&)> const& body);
  /// When false, and on failure: roll your transaction back.
  static bool finish_in(joined& yours, std::span<handed* const> all);
  /// Not done, and not counted as an attempt: due again as it was, once its claim has ended.
  void hand_back();
  /// Whether it has a result, or was handed back.
  [[nodiscard]] bool finished() const noexcept { return !open_ || in_theirs_; }

 private:
  friend class queues::dispenser;
  friend class queues::drainer;
  handed(std::shared_ptr<queues::hand> from, std::size_t at) noexcept;
  class together;
  void check_open() const;
  void drop() noexcept;
  void leave(bool lost) noexcept;

  std::shared_ptr<queues::hand> from_;
  std::size_t at_;
  std::chrono::steady_clock::time_point since_;
  bool open_ = true;        ///< this handle still owes the claim an answer
  bool in_theirs_ = false;  ///< finished in a transaction of the application's
};

struct hand_out_counts {
  std::size_t claims = 0;     ///< in hand
  std::size_t waiting = 0;    ///< tasks in hand that no thread has yet
  std::size_t working = 0;    ///< in the threads' hands
  std::size_t unwritten = 0;  ///< finished, and not in the ledger yet
};

/// Suspects (see task_state::suspect) are handed out one at a time, beside all else. One that has
/// crashed twice, or whose next crash is its last, is handed out when the threads have finished
/// what they have, and nothing else is until it has ended; neither for longer than 20 seconds,
/// after which it is tried again later, or others go on beside it. Two hand_outs in one process do
/// not know of each other's.
///
/// A task is handed out when the book knows that it begins: in a queue of step_mode::at_most_once
/// just then, else for some tasks ahead, as many as begin within half of flush_every. What was not
/// begun when the process dies is nobody's suspect.
///
/// A process that has not renewed its lease for two thirds of it, by its own clock, hands nothing
/// out and claims nothing until it has: others may soon take it for dead.
///
/// It never has more than batch * (ahead + 1) tasks in hand, those counted that are finished and
/// not in the ledger yet: a database that is slow to write is asked for no more work. What it
/// cannot write while the database is away it keeps, and writes when that is back.
///
/// It hears of work at once, and need not be told: of what this process adds and asks for, and, on
/// SQLite and PostgreSQL, of what others do; for that it has a connection of its own beside those
/// of the pool. On MariaDB, behind a pooler and on lent connections the poll finds what others add,
/// and what joined transactions add. What other processes hand back is found by the poll
/// everywhere.
///
/// Faults of the database are told to the observer (observer::retried, "hand_out") and tried again
/// after a pause; no call of a thread throws them but perform() and finish_in().
class DAYBOOK_EXPORT hand_out {
 public:
  /// Starts the claimer's thread; it claims when the first thread asks for a task.
  /// On failure: daybook::error, fault::bad_argument for options out of their range, or a borrowed
  /// book, which belongs to one thread.
  explicit hand_out(queue const& of, hand_out_options options = {});
  hand_out(hand_out const&) = delete;
  hand_out& operator=(hand_out const&) = delete;
  /// As stop().
  ~hand_out();

  /// Waits until there is a task, no sooner than its slot where the queue has a rate. Empty: asked
  /// to stop, or closed. On failure: daybook::error (fault::forked) in a child of fork().
  [[nodiscard]] std::optional<handed> next(std::stop_token stop = {});
  /// The same for several: waits for the first, and then until there are `most`, or `gather` is
  /// over. A suspect comes by itself. `most`: 1 to 10000; `gather`: 0 to an hour. On failure: as
  /// next(); daybook::error (fault::bad_argument).
  [[nodiscard]] std::vector<handed> next_batch(std::size_t most, std::chrono::milliseconds gather,
                                               std::stop_token stop = {});
  /// Other options, for the next claims. On failure: daybook::error (fault::bad_argument).
  void change(hand_out_options options);
  /// Asks the database at once: for work that it does not hear of.
  void wake() noexcept;

  /// No more tasks are given; returns at once.
  void close() noexcept;
  /// Closes, waits until the threads have finished what they have, writes that down and hands back
  /// the rest. Never throws: when the database is away for longer than the lease, what was not
  /// written is told to the observer, and done again by another. Not to be called by a thread that
  /// has a task in hand: it would wait for itself.
  void stop() noexcept;

  [[nodiscard]] hand_out_counts counts() const;

 private:
  std::shared_ptr<queues::dispenser> inside_;
};

}  // namespace v1
}  // namespace daybook
