// A claim whose tasks are handed out one by one, and who is told what becomes of them. The inside
// of daybook::handed.
// Thread safety: of a hand, `from`, `of`, `made` and `alone` never change; all else belongs to the
// giver.
#pragma once

#include "queue/claims/batch.hpp"
#include "queue/fetch/ear.hpp"

#include <daybook/task.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace queues {

struct hand;

/// Whoever has handed a task out. `took` is how long it was in hand.
class giver {
 public:
  giver() = default;
  giver(giver const&) = delete;
  giver& operator=(giver const&) = delete;
  virtual ~giver() = default;

  /// False: lost.
  virtual bool note(hand& claim, std::size_t index, result result, local_clock::duration took) = 0;
  /// Without a result to note: it was handed back, lost, or is finished in the ledger already.
  virtual void leave(std::shared_ptr<hand> const& claim, bool lost,
                     local_clock::duration took) noexcept = 0;
  /// Whether its claim is known to be lost.
  [[nodiscard]] virtual bool gone(hand const& claim) const = 0;
};

struct hand {
  hand(std::shared_ptr<giver> claim_owner, std::unique_ptr<batch> batch, bool suspect)
      : from(std::move(claim_owner)),
        of(std::move(batch)),
        alone(suspect),
        one_by_one(suspect || of->of().present().by.mode == step_mode::at_most_once),
        begun(of->announces() ? 0 : of->tasks().size()) {}
  hand(hand const&) = delete;
  hand& operator=(hand const&) = delete;
  /// Leaves the claim as it stands in the book: it was ended, or lost, or is an orphan by then.
  ~hand() { of->forget(); }

  std::shared_ptr<giver> from;
  std::unique_ptr<batch> of;
  instant made = local_clock::now();
  bool alone;             ///< a suspect
  bool one_by_one;        ///< nothing is said to begin that does not begin at once
  bool in_quiet = false;  ///< nothing else begins before this has ended
  std::size_t begun;      ///< the first that may not begin yet, for it is not written that it does
  std::size_t next = 0;   ///< the first that no thread has had
  std::size_t open = 0;   ///< in the threads' hands
  std::size_t held = 0;   ///< all that is not in the ledger, nor handed back
  std::size_t in_batch = 0;                           ///< finished, and known to the batch only
  std::vector<std::pair<std::size_t, result>> noted;  ///< finished, and not known to it yet
  instant oldest{};                                   ///< when the first of `noted` was finished
  instant in_batch_since{};
  bool gone = false;  ///< lost
  std::stop_source lost;

  [[nodiscard]] std::size_t size() const noexcept { return of->tasks().size(); }
  [[nodiscard]] std::size_t unwritten() const noexcept { return in_batch + noted.size(); }
  /// When the first of these was finished.
  [[nodiscard]] instant since() const noexcept { return in_batch > 0 ? in_batch_since : oldest; }
  [[nodiscard]] bool over() const noexcept { return next == size() && open == 0; }
  /// How many may be given at once.
  [[nodiscard]] std::size_t to_give() const noexcept { return next < begun ? begun - next : 0; }
  /// When the task at this place may start.
  [[nodiscard]] instant slot_of(std::size_t index) const {
    return made + of->tasks()[index].start_delay;
  }
};

/// By this process's own clock, since it sent its last renewal: what begins now has a third of the
/// lease before it can be another's. One that is dead, or none yet, is a new one with its next
/// claim.
[[nodiscard]] bool lease_lasts(store const& store);
/// Whether the claim is this process's still, as far as it knows by itself.
[[nodiscard]] bool is_ours(hand const& claim);
/// Its end could not be written: an orphan of its queue's.
void leave_behind(hand const& claim) noexcept;

}  // namespace queues
}  // namespace v1
}  // namespace daybook
