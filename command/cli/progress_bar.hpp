// How far a long verb is, for a person: one line on stderr, drawn again at most ten times a second,
// and wiped at the end. Nothing where stderr is no terminal, or one that cannot go back in its line
// (TERM is dumb or not set). It has no colours.
// Thread safety: one thread.
//
//   progress_bar bar("stock");
//   while (next()) bar.at(++count, part);
//   bar.wipe();
//   say(fmt::format("stock: {} added, {}", count, bar.pace(count)));
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace command {

class progress_bar {
 public:
  explicit progress_bar(std::string label);
  ~progress_bar() { wipe(); }
  progress_bar(progress_bar const&) = delete;
  progress_bar& operator=(progress_bar const&) = delete;

  /// `part` of the whole, 0 to 1; empty: nobody knows the whole. Cheap where nothing is drawn.
  void at(std::int64_t count, std::optional<double> part = {});
  void wipe() noexcept;
  /// "12.3s, 8130/s": since it was made.
  [[nodiscard]] std::string pace(std::int64_t count) const;

 private:
  using clock = std::chrono::steady_clock;

  std::string label_;
  clock::time_point began_ = clock::now();
  clock::time_point next_;
  bool drawn_ = false;
  bool terminal_;
};

}  // namespace command
