// A batch of tasks in this process's hands. Its row in the book is the fence of all its writes: a
// process that lost the claim writes nothing.
// Thread safety: any thread may finish tasks; complete() and the destructor belong to one.
// Lifetime: the queue's book must outlive it.
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/outcome.hpp>
#include <daybook/task.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace daybook {
inline namespace v1 {

class external_transaction;
class transaction;
namespace queues {
class batch;
}  // namespace queues

class DAYBOOK_EXPORT claim {
 public:
  explicit claim(std::unique_ptr<queues::batch> inside);
  claim(claim&&) noexcept;
  claim& operator=(claim&&) noexcept;
  /// Writes down finished tasks and hands back the others; never throws.
  ~claim();

  /// Unique among all claims, for ever.
  [[nodiscard]] std::string const& id() const noexcept;
  [[nodiscard]] std::span<task const> tasks() const noexcept;
  /// For receivers that drop duplicates: the same in all attempts, another at each turn, and
  /// another after its key was removed and added again. The same on every node. 52 characters of
  /// base32.
  [[nodiscard]] std::string idempotency_key(task const& task) const;

  // A task that is not of this claim, or finished already, is daybook::error
  // (error_code::bad_argument) and harms no other.

  /// Writes down that these tasks are about to begin. Call it before the work on them. It returns
  /// when the record is committed, and does nothing in a claim of beginning::with_claim.
  /// outcome::lost: another has the claim by now; do not begin. On failure: throws daybook::error;
  /// do not begin; you may call it again.
  outcome begin(std::span<task const* const> tasks);
  outcome begin(daybook::task const& task);
  /// Notes how the task ended; flush() or complete() writes it.
  void finish(task const& task, result result);
  /// Runs `body` in a transaction of the book's in which the task is finished as well: exactly
  /// once. outcome::lost: another has the claim by now, and nothing was written. Retries if that is
  /// safe. On failure: throws daybook::error, or what the body throws; the task is not finished.
  outcome perform(task const& task, std::function<void(transaction&)> const& body);
  /// The same with several tasks.
  outcome perform(std::span<task const* const> tasks,
                  std::function<void(transaction&)> const& body);
  /// The same in a transaction of the application's, which commits it. False: lost.
  bool finish_in(external_transaction& yours, task const& task);
  bool finish_in(external_transaction& yours, std::span<task const* const> tasks);
  /// Writes down finished tasks, so that no crash repeats them. False: lost. On failure: throws
  /// daybook::error; you may call it again.
  bool flush();

  /// Ends the claim: writes the finished tasks and hands the others back as they were.
  /// outcome::done. outcome::lost: another has taken the claim; only results that flush() or
  /// perform() had written are there. outcome::unknown: one of these two; the reply was lost, and
  /// asked for again more than a day after this process was declared dead. On failure: throws
  /// daybook::error, and the claim is as it was, or has ended; complete() again says which.
  outcome complete() &&;
  /// The same, and claims the next batch of the queue, in one trip to the database. Check `ended`
  /// first. On failure: throws, and the end may be written or not; complete(), or this again, finds
  /// out.
  struct completed_and_claimed;
  completed_and_claimed complete_and_claim(int limit) &&;

  /// For the other rooms of this library only.
  [[nodiscard]] queues::batch& internals() const noexcept { return *inside_; }

 private:
  std::unique_ptr<queues::batch> inside_;
};

struct claim::completed_and_claimed {
  outcome ended = outcome::done;
  std::optional<claim> next;
};

}  // namespace v1
}  // namespace daybook
