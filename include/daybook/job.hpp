// A task in the hands of a worker, as its handler sees it; and a batch of them.
// Thread safety: one thread at a time; stop tokens may be read from any.
//
//   node.work(stock, [](daybook::job& job) {
//     return ask_the_stock_system(job.task().key);  // a result; what is thrown is a failure
//   });
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/task_fetcher.hpp>
#include <daybook/outcome.hpp>
#include <daybook/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace daybook {
inline namespace v1 {

class external_transaction;
class transaction;
namespace work {
class running_handler;
}  // namespace work

/// Why a handler is asked to stop.
enum class stop_reason : std::uint8_t {
  none,
  timeout,  ///< work_options::timeout is over
  lost,     ///< another has the claim: work done from now on may be done twice
  closing,  ///< the node stops; a handler that cannot end soon calls hand_back() and returns
};

/// The task, and why and when the handler must stop.
class DAYBOOK_EXPORT job {
 public:
  job(claimed_task& task, work::running_handler& inside) : task_(&task), inside_(&inside) {}
  job(job const&) = delete;
  job& operator=(job const&) = delete;

  [[nodiscard]] daybook::task const& task() const noexcept { return task_->task(); }
  /// For what it does elsewhere: as claim::idempotency_key().
  [[nodiscard]] std::string idempotency_key() const { return task_->idempotency_key(); }
  /// A stop is requested when the time is over, the claim is lost or the node stops; why() says
  /// which.
  [[nodiscard]] std::stop_token stopping() const noexcept;
  [[nodiscard]] stop_reason why() const noexcept;

  /// As claimed_task::begin(), where work_options::claims says that tasks are announced.
  outcome begin();

  // Call at most one of these three; then the handler's return value is ignored.

  /// Runs `body` in a transaction in which the task is finished, too: exactly once.
  outcome perform(std::function<void(transaction&)> const& body);
  /// The same in a transaction of the application's, which ends before the handler returns. False:
  /// lost; roll it back.
  bool finish_in(external_transaction& yours);
  /// Gives the task back undone; does not count as an attempt.
  void hand_back();

  [[nodiscard]] bool finished() const noexcept { return task_->finished(); }

 private:
  claimed_task* task_;
  work::running_handler* inside_;
};

/// Returns how the task ended. An exception is a failure with its text (unknown in a queue of
/// step_mode::at_most_once). Called by several threads at a time.
using job_handler = std::function<result(job&)>;

/// Several tasks at once, for a handler that does them together.
class DAYBOOK_EXPORT job_batch {
 public:
  job_batch(std::span<claimed_task> tasks, work::running_handler& inside)
      : all_(tasks), inside_(&inside) {}
  job_batch(job_batch const&) = delete;
  job_batch& operator=(job_batch const&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] daybook::task const& task(std::size_t index) const;
  [[nodiscard]] std::string idempotency_key(std::size_t index) const;
  [[nodiscard]] std::stop_token stopping() const noexcept;
  [[nodiscard]] stop_reason why() const noexcept;

  // A task that has a result already, or none of that number, is daybook::error
  // (error_code::bad_argument). Those without a result when the handler returns have failed; when
  // it throws, with that text.

  /// As claimed_task::begin(), where work_options::claims says that tasks are announced.
  outcome begin(std::size_t index);
  /// Sets the result of one task; it is written down within task_fetcher_options::flush_every.
  void finish(std::size_t index, result result);
  /// Not done, and not counted as an attempt.
  void hand_back(std::size_t index);
  void hand_back_rest();
  /// Runs `body` in a transaction in which all tasks that have no result yet succeed, too: exactly
  /// once. outcome::lost: nothing was written; hand the rest back. On failure: throws
  /// daybook::error, or what the body throws; none of them has a result.
  outcome perform(std::function<void(transaction&)> const& body);
  /// The same in a transaction of the application's, which ends before the handler returns. False:
  /// lost; roll it back, and hand the rest back.
  bool finish_in(external_transaction& yours);
  [[nodiscard]] bool finished(std::size_t index) const;

 private:
  [[nodiscard]] claimed_task& at(std::size_t place) const;
  [[nodiscard]] std::vector<claimed_task*> open() const;

  std::span<claimed_task> all_;
  work::running_handler* inside_;
};

using batch_handler = std::function<void(job_batch&)>;

struct work_options {
  int threads = 4;  ///< handlers of this queue at once, 1 to 1000
  /// A handler is asked to stop after this time, a year at most; 0: never. If it then throws, the
  /// task has failed; if it returns a success all the same, that counts. Threads cannot be killed:
  /// work that must be killed needs a process of its own, as under `daybook daemon`.
  std::chrono::milliseconds timeout{0};
  /// For batch handlers: the most tasks, 1 to 10000, and how long to wait for more after the first:
  /// an hour at most.
  int batch = 100;
  std::chrono::milliseconds gather{0};
  task_fetcher_options claims = {};
  /// queue::upkeep(), and table_sync::reconcile() where it follows a table, once a day (UTC) by one
  /// of the nodes, as a run of process "upkeep".
  bool upkeep = true;
};

struct work_counts {
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::int64_t others = 0;  ///< snoozed, cancelled, unknown
  std::int64_t handed_back = 0;
  std::int64_t lost = 0;
  std::int64_t running = 0;
};

}  // namespace v1
}  // namespace daybook
