#include "config/placeholders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace command {

namespace {

[[noreturn]] void wrong(std::size_t offset, std::string_view reason, place_names known) {
  throw std::invalid_argument(fmt::format("character {}: {}; there are {{{}}}, and {{{{ is a brace",
                                          offset + 1, reason, fmt::join(known, "}, {")));
}

}  // namespace

pattern::pattern(std::string_view text, place_names known) {
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
    if (end == std::string_view::npos) wrong(brace, "a placeholder has no end", known);
    auto const name = text.substr(brace + 1, end - brace - 1);
    auto const found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      wrong(brace, fmt::format("no placeholder is named '{}'", name), known);
    }
    pieces_.push_back({std::exchange(rest_, {}), static_cast<std::size_t>(found - known.begin())});
    at = end + 1;
  }
}

std::string pattern::filled(std::span<std::string const> values) const {
  std::string out;
  for (auto const& one : pieces_) out += one.before + values[one.then];
  return out + rest_;
}

bool pattern::has(std::size_t place) const noexcept {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [place](piece const& one) { return one.then == place; });
}

bool pattern::begins_with(std::size_t place) const noexcept {
  return !pieces_.empty() && pieces_.front().before.empty() && pieces_.front().then == place;
}

std::vector<std::string> filled(std::vector<pattern> const& words,
                                std::span<std::string const> values) {
  std::vector<std::string> out;
  for (auto const& one : words) out.push_back(one.filled(values));
  return out;
}

}  // namespace command
