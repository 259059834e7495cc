// Keys that are made for parents: they sort by the time they were made, and nobody makes one twice.
// Thread safety: functions are thread-safe, an object is one thread's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace aggregations {

/// 26 characters each: 48 bits of milliseconds and 80 that are random, in Crockford's base 32.
[[nodiscard]] std::vector<std::string> new_texts(std::int64_t now_us, std::size_t count);

/// Positive: 41 bits of milliseconds since 2020 and 22 that begin anywhere and go up. Those of one
/// object always go up, also while its clock stands still: then they run ahead of it.
class numbers {
 public:
  [[nodiscard]] std::vector<std::int64_t> next(std::int64_t now_us, std::size_t count);

 private:
  std::uint64_t last_ = 0;
};

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
