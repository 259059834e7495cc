// The tasks that everybody works off: keys, payloads of some 85 bytes, one in 32 fails with a
// remark. And the book of who has seen which.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bench {

inline constexpr long segment_length = 1000;

[[nodiscard]] std::string key_of(long id);
[[nodiscard]] std::string payload_of(long id);
/// The same two as an SQL expression over the column `i`, for filling a table.
[[nodiscard]] std::string sql_key(std::string_view dialect);
[[nodiscard]] std::string sql_payload(std::string_view dialect);

[[nodiscard]] inline bool fails(long id) { return id % 32 == 0; }
inline constexpr std::string_view remark = "the other side answered: 503, later.";

/// Thread safety: `see` from any thread.
class tally {
 public:
  explicit tally(long highest);
  /// Reads the payload byte by byte. On failure: std::runtime_error where it is not the task's, or
  /// where the task was seen before.
  void see(long id, std::string_view payload);
  [[nodiscard]] std::uint64_t checksum() const { return sum_; }

 private:
  long highest_;
  std::unique_ptr<std::atomic<bool>[]> seen_;
  std::atomic<std::uint64_t> sum_ = 0;
};

}  // namespace bench
