// The last 8 KiB of what a command printed. No pointers and nothing to free: it may stand in
// memory that processes share.
// Thread safety: several may add() at once; text() when nobody does.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace command {

class tail {
 public:
  void add(char const* data, std::size_t size) noexcept;
  /// Whole characters of UTF-8, where it is that.
  [[nodiscard]] std::string text() const;

 private:
  static constexpr std::size_t longest = 8192;
  std::atomic<std::uint64_t> written_{0};
  std::array<char, longest> bytes_{};
};

}  // namespace command
