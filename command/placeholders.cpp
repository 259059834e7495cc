#include "placeholders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace command {

namespace {

constexpr std::array<std::string_view, 5> names{"tick", "window_start", "window_end", "key",
                                                "schedule"};

[[noreturn]] void wrong(std::size_t at, std::string_view what) {
  throw std::invalid_argument(fmt::format("character {}: {}; there are {{{}}}, and {{{{ is a brace",
                                          at + 1, what, fmt::join(names, "}, {")));
}

}  // namespace

pattern::pattern(std::string_view text) {
  std::size_t at = 0;
  for (;;) {
    auto const brace = std::min(text.find('{', at), text.size());
    rest_.append(text, at, brace - at);
    if (brace == text.size()) return;
    if (text.substr(brace + 1).starts_with('{')) {
      rest_ += '{';
      at = brace + 2;
      continue;
    }
    auto const end = text.find('}', brace);
    if (end == std::string_view::npos) wrong(brace, "a placeholder has no end");
    auto const name = text.substr(brace + 1, end - brace - 1);
    auto const found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) wrong(brace, fmt::format("no placeholder is named '{}'", name));
    pieces_.push_back({std::exchange(rest_, {}), static_cast<place>(found - names.begin())});
    at = end + 1;
  }
}

std::string pattern::filled(place_texts const& with) const {
  std::string out;
  for (auto const& one : pieces_) out += one.before + with[static_cast<std::size_t>(one.then)];
  return out + rest_;
}

}  // namespace command
