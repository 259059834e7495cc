// Hands tasks out in the thread that asks, and waits for nothing that is not due: for workers that
// end when there is nothing to do. What was handed back stays in hand until the end, so that it is
// not taken again.
// Thread safety: one thread. Lifetime: what it gave out is gone before it is.
#pragma once

#include "queue/fetch/hand.hpp"
#include "queue/members/store.hpp"

#include <daybook/task_fetcher.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace queues {

class drainer final : public giver {
 public:
  /// `flush_every`: what is finished is written after so long, when the next task is asked for.
  /// `batch`: who asks for single tasks claims so many at most, and a hundred.
  drainer(std::shared_ptr<store> store, task_fetcher_options const& options)
      : store_(std::move(store)), options_(options) {}
  /// Ends the claims; what fails is told to the observer, and done by the next claim.
  ~drainer() override;

  // On failure, all: throws daybook::error.

  /// Up to so many, of one claim, when their slots come. Empty: nothing is due, but suspects.
  std::vector<claimed_task> next(std::size_t most);
  /// One suspect, when all else is handed back: nothing but suspects is to be asked for then.
  std::vector<claimed_task> next_suspect();
  /// Writes down what is finished, and hands back the rest.
  void end();

  bool note(hand& claim, std::size_t index, result result, local_clock::duration took) override;
  void leave(std::shared_ptr<hand> const& claim, bool lost,
             local_clock::duration took) noexcept override;
  [[nodiscard]] bool gone(hand const& claim) const override { return claim.gone; }

 private:
  void settle();
  /// Waits for the slots of so many at most. False: their claim is another's by now.
  bool may_begin(std::size_t most);
  bool begin_to(std::size_t end);
  void renew();
  void take(int limit, bool suspect);
  std::vector<claimed_task> give(std::size_t most);

  std::shared_ptr<store> store_;
  task_fetcher_options options_;
  std::shared_ptr<hand> now_;
  std::vector<std::shared_ptr<hand>> kept_;
  instant flushed_ = local_clock::now();
  std::size_t window_ = 0;  ///< so many are said to begin at once
  instant begun_ = local_clock::now();
};

}  // namespace queues
}  // namespace v1
}  // namespace daybook
