// What a claim has taken, before it is a batch in hand.
// Thread safety: a value.
#pragma once

#include "db/session.hpp"

#include <cstdint>

namespace daybook {
inline namespace v1 {
namespace queues {

struct taking {
  /// Of claim.take: the ranges and, where the engine gives them at once, the tasks.
  db::table found = {};
  std::int64_t first_us = 0;  ///< from now to the first start
  std::int64_t slot_us = 0;   ///< between two starts; 0: no rate
  bool announced = false;     ///< none of its tasks counts as begun

  /// False: nothing is due.
  [[nodiscard]] bool any() const noexcept { return found.size() > 0; }
};

}  // namespace queues
}  // namespace v1
}  // namespace daybook
