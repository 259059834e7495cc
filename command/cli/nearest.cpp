#include "cli/nearest.hpp"

#include "cli/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace command {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// How many letters are to be changed, put in, left out or swapped with their neighbour.
std::size_t distance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> last(other.size() + 1);
  std::vector<std::size_t> row(other.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      auto const same = [&](std::size_t a, std::size_t b) {
        return lower(one[a - 1]) == lower(other[b - 1]);
      };
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same(i, j) ? std::size_t{0} : 1)});
      bool const swapped = i > 1 && j > 1 && same(i, j - 1) && same(i - 1, j);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest(std::string_view given, std::span<std::string const> names) {
  auto best = std::clamp<std::size_t>(given.size() / 3, 1, 3) + 1;
  std::string_view out;
  for (std::string_view const name : names) {
    auto const longer = std::max(name.size(), given.size());
    if (longer - std::min(name.size(), given.size()) >= best) continue;
    auto const far = distance(given, name);
    // Of a name that has nothing in common nothing is near.
    if (far >= best || far >= longer) continue;
    best = far;
    out = name;
  }
  return out;
}

std::string list_of(std::string_view given, std::span<std::string const> names,
                    std::string_view list) {
  auto const near = nearest(given, names);
  if (near.empty()) return fmt::format("there are {}", list);
  return fmt::format("did you mean '{}'? There are {}", printable(near), list);
}

std::string did_you_mean(std::string_view given, std::span<std::string const> names) {
  auto const near = nearest(given, names);
  return near.empty() ? std::string() : fmt::format("; did you mean '{}'?", printable(near));
}

}  // namespace command
