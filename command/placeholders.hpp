// A word of a command with places for what is known of a tick only when it is launched:
// {tick}, {window_start}, {window_end}, {key}, {schedule}. `{{` is a brace.
// Thread safety: values.
//
//   pattern const word("--from={window_start}");
//   words.push_back(word.filled(known));
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace command {

enum class place : std::size_t { tick, window_start, window_end, key, schedule };

/// By place. Instants are UTC, ISO 8601 with a Z.
using place_texts = std::array<std::string, 5>;

class pattern {
 public:
  /// On failure: throws std::invalid_argument, with the place and what there is.
  explicit pattern(std::string_view text);
  [[nodiscard]] std::string filled(place_texts const& with) const;

 private:
  struct piece {
    std::string before;
    place then;
  };
  std::vector<piece> pieces_;
  std::string rest_;
};

}  // namespace command
