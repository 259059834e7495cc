// Who guesses tokens is slowed down: so many wrong ones a minute and address, then none is looked
// at.
// Thread safety: any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace command {

class guesses {
 public:
  explicit guesses(int most = 10) noexcept : most_(most) {}

  /// Whether this address has guessed wrong too often within the last minute.
  [[nodiscard]] bool too_many(std::string const& address);
  void wrong(std::string const& address);

 private:
  using clock = std::chrono::steady_clock;
  struct wrong_ones {
    clock::time_point since;
    int count = 0;
  };
  void forget_old(clock::time_point now);

  int most_;
  std::mutex guard_;
  std::map<std::string, wrong_ones> by_address_;
};

}  // namespace command
