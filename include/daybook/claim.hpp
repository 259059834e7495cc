// A batch of tasks in this process's hands. Its row in the book is the fence of all that is done
// with it: whoever has lost it writes nothing.
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

class joined;
class transaction;
namespace queues {
class batch;
}  // namespace queues

class DAYBOOK_EXPORT claim {
 public:
  explicit claim(std::unique_ptr<queues::batch> inside);
  claim(claim&&) noexcept;
  claim& operator=(claim&&) noexcept;
  /// Hands back what was not finished, and writes down what was; never throws.
  ~claim();

  /// Unique over all claims that ever were.
  [[nodiscard]] std::string const& id() const noexcept;
  [[nodiscard]] std::span<task const> tasks() const noexcept;
  /// For what the task does elsewhere: the same over its attempts, new at each turn, and when its
  /// key was removed and added again; equal on every node. 52 characters of base32.
  [[nodiscard]] std::string idempotency_key(task const& of) const;

  // A task that is not of this claim, or finished already, is daybook::error (fault::bad_argument)
  // and harms no other.

  /// Writes down that these are about to begin; call it before the work on them. It returns when
  /// the record is committed, and does nothing in a claim of beginning::with_claim. outcome::lost:
  /// the claim is another's by now; do not begin. On failure: throws daybook::error; do not begin,
  /// and it may be called again.
  outcome begin(std::span<task const* const> tasks);
  outcome begin(daybook::task const& task);
  /// Notes how it ended: written with flush() or complete().
  void finish(task const& of, result how);
  /// Runs `body` in a transaction of the book's in which the task is finished as well: exactly
  /// once. outcome::lost: the claim is another's by now, and nothing was written. What is safe to
  /// retry is retried. On failure: throws daybook::error, or what the body throws; the task is not
  /// finished.
  outcome perform(task const& of, std::function<void(transaction&)> const& body);
  /// The same with several tasks.
  outcome perform(std::span<task const* const> of, std::function<void(transaction&)> const& body);
  /// The same in a transaction of the application's, which commits it. False: lost.
  bool finish_in(joined& yours, task const& of);
  bool finish_in(joined& yours, std::span<task const* const> of);
  /// Writes down what is finished, so that no crash repeats it. False: lost.
  /// On failure: throws daybook::error; it may be called again.
  bool flush();

  /// Ends the claim: what was finished is written, the rest is handed back as it was.
  /// outcome::done; or outcome::lost: another has taken it, and of what flush() or perform() had
  /// not written yet, nothing is; or outcome::unknown: one of these two, but the reply was lost and
  /// was asked for again more than a day after this process was declared dead. On failure: throws
  /// daybook::error, and the claim is as it was, or has ended; complete() again says which.
  outcome complete() &&;
  /// The same, and the next batch of the queue in one trip to the database. Check `ended` first. On
  /// failure: throws, and the end may be written; complete(), or this again, says what became of
  /// it.
  struct turnover;
  turnover complete_and_claim(int limit) &&;

  /// For the other rooms of this library only.
  [[nodiscard]] queues::batch& internals() const noexcept { return *inside_; }

 private:
  std::unique_ptr<queues::batch> inside_;
};

struct claim::turnover {
  outcome ended = outcome::done;
  std::optional<claim> next;
};

}  // namespace v1
}  // namespace daybook
