// What a process has in hand, as its holder's row tells it to people: a line for each run with
// the step under way, since when, and how far the work is.
// Thread safety: values; an in_hand is guarded by its incarnation.
#pragma once

#include "base/platform.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace core {

/// One acquisition of a run. After a lost COMMIT reply several may be on the row.
struct acquisition {
  std::int64_t epoch = 0;
  std::string uuid;
  /// The version of its row, at least, as of the last write of ours that was acknowledged: a row
  /// below that is of an older copy of the book.
  std::int64_t seen = 0;
};

struct progress {
  std::int64_t done = 0;
  std::int64_t total = 0;  ///< 0: not known
  std::string note;        ///< without control characters
};

/// A run in hand, as the holder sees it.
struct in_hand {
  std::string process;
  std::string key;
  acquisition held;
  std::string step;  ///< empty between steps
  base::boot_clock::time_point step_began;
  std::optional<progress> how_far;
  std::optional<base::boot_clock::time_point> deadline;
  std::stop_source lost;
};

/// What one line tells.
struct in_hand_line {
  std::string step;
  std::chrono::microseconds step_for{0};  ///< how long it had been under way when this was written
  std::optional<progress> how_far;
};

/// For people: how long something took.
[[nodiscard]] std::chrono::microseconds since(base::boot_clock::time_point began);

/// Empty where there is nothing to tell.
[[nodiscard]] std::string write_line(in_hand const& running);
/// Of this run in the lines of a holder's row; those of older releases have fewer fields.
[[nodiscard]] std::optional<in_hand_line> find_line(std::string_view lines,
                                                    std::string_view process, std::string_view key);

}  // namespace core
}  // namespace v1
}  // namespace daybook
