// Ids of members that this process took from the book, and has not given out yet.
// Thread safety: a value.
#pragma once

#include "base/platform.hpp"

#include <cstdint>

namespace daybook {
inline namespace v1 {
namespace queues {

struct id_block {
  std::int64_t next = 0;
  std::int64_t end = 0;
  std::int64_t setbacks = 0;                ///< core::holder::setbacks() when it was taken
  base::boot_clock::time_point known_at{};  ///< when the book was last seen to know of it

  [[nodiscard]] bool empty() const noexcept { return next == end; }
};

}  // namespace queues
}  // namespace v1
}  // namespace daybook
