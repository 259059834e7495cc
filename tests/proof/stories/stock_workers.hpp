// Those who keep the shop's quantities up to date, in the story of the stock: nodes of the library
// (examples/sync_stock.cpp) and daemons that start a child for each batch (sync_stock.py).
// Thread safety: one thread. Lifetime: what they are given must outlive them.
#pragma once

#include "proof/stories/stock_sides.hpp"
#include "proof/torture/child.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace story {

inline constexpr std::chrono::milliseconds lease{2000};

/// What workers have in hand at most, each: of so many a crash may repeat what it asked outside.
inline constexpr int most_in_hand = 200;

struct stock_queue {
  std::chrono::seconds period{8};
  int daemons = 2;
  int nodes = 2;
};

class worker {
 public:
  explicit worker(std::vector<std::string> words) : words_(std::move(words)) {}
  void start();
  void kill();
  [[nodiscard]] pid_t id() const noexcept { return process_->id(); }
  void stop_for(std::chrono::milliseconds length);
  /// It ended by itself, which it must not: how.
  [[nodiscard]] std::optional<std::string> gone();
  /// Asks it to end. On failure: throws std::runtime_error.
  void end();

 private:
  std::vector<std::string> words_;
  std::unique_ptr<torture::child> process_;
};

class workforce {
 public:
  workforce(stock_queue const& how, std::string const& url, std::string const& stock_url,
            std::filesystem::path const& folder, unsigned seed);
  void start();
  /// Something happens to one of them.
  void trouble();
  /// All at once.
  void kill_all();
  void check() const;
  [[nodiscard]] std::set<std::int64_t> processes() const;
  void end();
  [[nodiscard]] int hurt() const noexcept { return hurt_; }
  [[nodiscard]] std::string counts() const;

 private:
  std::vector<std::unique_ptr<worker>> all_;
  std::minstd_rand dice_;
  std::map<std::string, int> counts_;
  int hurt_ = 0;
};

}  // namespace story
