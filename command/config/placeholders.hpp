// A word of a command with places for what is known only when it is started, as {window_start} of a
// tick or {key} of a task. `{{` is a brace.
// Thread safety: values.
//
//   pattern const word("--from={window_start}", tick_places);
//   words.push_back(word.filled(known));
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace command {

/// The names of places; what fills them stands in the same order. Instants are UTC, ISO 8601 with
/// a Z.
using place_names = std::span<std::string_view const>;

inline constexpr std::array<std::string_view, 5> tick_places{"tick", "window_start", "window_end",
                                                             "key", "schedule"};
inline constexpr std::array<std::string_view, 5> task_places{"queue", "key", "payload", "attempt",
                                                             "turn"};
/// Of a command that is given many tasks at once.
inline constexpr std::array<std::string_view, 1> batch_places{"queue"};

class pattern {
 public:
  /// On failure: throws std::invalid_argument, with the place and what there is.
  pattern(std::string_view text, place_names known);
  [[nodiscard]] std::string filled(std::span<std::string const> values) const;

  /// Nothing is filled in.
  [[nodiscard]] bool is_plain() const noexcept { return pieces_.empty(); }
  /// Whether the place of that number is in it; in front: before everything else.
  [[nodiscard]] bool has(std::size_t place) const noexcept;
  [[nodiscard]] bool begins_with(std::size_t place) const noexcept;

 private:
  struct piece {
    std::string before;
    std::size_t then;
  };
  std::vector<piece> pieces_;
  std::string rest_;
};

/// Of a whole command.
[[nodiscard]] std::vector<std::string> filled(std::vector<pattern> const& words,
                                              std::span<std::string const> values);

}  // namespace command
