#include "queue/fetch/hand.hpp"

#include <exception>

namespace daybook {
inline namespace v1 {
namespace queues {

bool lease_lasts(store const& store) {
  auto const present = store.lease().peek();
  return !present || present->dead() || present->since_renewal() < store.with().lease * 2 / 3;
}

bool is_ours(hand const& claim) {
  auto const present = claim.of->of().lease().peek();
  return present && !present->dead() && present->uuid() == claim.of->holder();
}

void leave_behind(hand const& claim) noexcept {
  auto const& of = claim.of;
  try {
    of->of().add_orphan(of->id(), of->holder(), orphaned::in_work);
  } catch (std::exception const& e) {
    of->of().with().watch.retried("complete", e.what());  // no memory: its heir takes it back
  }
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
