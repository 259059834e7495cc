// Keys that are made for parents: they sort by the time they were made, and nobody makes one twice.
// Thread-safe.
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
/// Positive: 41 bits of milliseconds since 2020 and 22 that begin anywhere and go up.
[[nodiscard]] std::vector<std::int64_t> new_numbers(std::int64_t now_us, std::size_t count);

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
