#include "core/tx/doorbells.hpp"

#include <utility>

namespace daybook {
inline namespace v1 {
namespace core {

doorbells::place doorbells::add(std::int64_t queue, std::function<void()> wake) {
  std::lock_guard const lock(guard_);
  return waiting_.emplace(queue, std::move(wake));
}

void doorbells::remove(place place) {
  std::lock_guard const lock(guard_);
  waiting_.erase(place);
}

void doorbells::ring(std::int64_t queue) const {
  std::lock_guard const lock(guard_);
  auto const [first, last] = waiting_.equal_range(queue);
  for (auto at = first; at != last; ++at) at->second();
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
