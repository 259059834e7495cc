// What a claim has taken, before it is a batch in hand.
// Thread safety: a value.
#pragma once

#include "db/session.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace queues {

/// So many segments were looked at, for so many tasks.
struct search {
  std::int64_t segments = 0;
  std::int64_t limit = 0;

  /// All of them were taken, and were shorter than those of the claims before: others that are due
  /// may have been left out.
  [[nodiscard]] bool fell_short(std::size_t taken, std::int64_t ids) const noexcept {
    return segments < limit && std::cmp_equal(taken, segments) && ids * 2 < limit;
  }
};

struct taking {
  search looked = {};
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
