// What the driver of the queues' torture and its workers agree on: which tasks there are, how each
// is done, and where its effect is written.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace torture {

/// Of a script: imported, and then added one by one; the last of them is removed again.
inline constexpr int imported_keys = 16;
inline constexpr int all_keys = 20;
/// The script claims so many at once.
inline constexpr int script_batch = 5;
inline constexpr char const* poison_key = "poison";

/// By the queue's name: of its series one task at a time, in their order.
inline bool is_ordered(std::string_view queue) { return queue.ends_with('o'); }

inline std::string key_of(int number, std::string_view queue) {
  auto const digits = std::to_string(number);
  return is_ordered(queue) ? "s" + digits.substr(digits.size() - 1) + "/" + digits : "k" + digits;
}

inline int number_of(std::string_view key) {
  int out = 0;
  auto const slash = key.rfind('/');
  auto const digits = key.substr(slash == key.npos ? 1 : slash + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return out;
}

/// In a transaction of the book's, with its effect in the same; else at least once, with its effect
/// in the file outside.
inline bool is_performed(std::int64_t id) { return id % 2 == 1; }

/// By the queue's name: each task again every hour, not once.
inline bool is_periodic(std::string_view queue) { return queue.ends_with('p'); }

}  // namespace torture
