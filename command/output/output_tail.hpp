// The last 8 KiB of the output of a command. Without pointers: it may stand in memory that
// processes share. Thread safety: several threads may add() at once; call text() when none does.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace command {

class output_tail {
 public:
  void add(char const* data, std::size_t size) noexcept;
  /// Cuts at a whole character if the output is UTF-8.
  [[nodiscard]] std::string text() const;

 private:
  static constexpr std::size_t longest = 8192;
  std::atomic<std::uint64_t> written_{0};
  std::array<char, longest> bytes_{};
};

}  // namespace command
