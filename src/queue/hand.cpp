#include "queue/hand.hpp"

namespace daybook {
inline namespace v1 {
namespace queues {

bool lease_lasts(store const& of) {
  auto const present = of.lease().peek();
  return !present || present->dead() || present->since_renewal() < of.with().lease * 2 / 3;
}

bool is_ours(hand const& which) {
  auto const present = which.of->of().lease().peek();
  return present && !present->dead() && present->uuid() == which.of->holder();
}

}  // namespace queues
}  // namespace v1
}  // namespace daybook
