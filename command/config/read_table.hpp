// What the tables of daybook.toml have in common: keys of which none may be unknown, a command with
// its environment and its time, and pauses between attempts.
// Thread safety: any thread. On failure, all: complaint (65) with file, line and column.
//
//   constexpr std::array<known_key<declared_queue>, 2> keys{{{"name", read_name}, ...}};
//   read_keys(out, from, file, "a [[queue]]", keys, {"name"});
#pragma once

#include "cli/nearest.hpp"
#include "config/placeholders.hpp"
#include "config/toml_value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace command {

inline constexpr std::chrono::milliseconds a_year = std::chrono::hours{24 * 365};

template <class T>
struct known_key {
  std::string_view name;
  void (*read)(T&, toml_value const&);
};

/// All that are there, in the order of `keys`; `place` is where they stand, as "a [[queue]]".
template <class T, std::size_t N>
void read_keys(T& target, toml::table const& table, std::string_view file, std::string_view place,
               std::array<known_key<T>, N> const& keys,
               std::initializer_list<std::string_view> needed);

/// `known` are the places that may be in a word.
[[nodiscard]] std::vector<pattern> command_of(toml_value const& value, place_names known);
[[nodiscard]] std::vector<std::pair<std::string, std::string>> environment_of(
    toml_value const& value);
[[nodiscard]] std::string zone_of(toml_value const& value);

/// The longest pause is not shorter than the first; one that is not given is as long as it, at
/// least.
void settle_backoff(toml::table const& table, std::string_view file,
                    std::chrono::milliseconds first, std::chrono::milliseconds& longest);

// --- Inline implementations ---

template <class T, std::size_t N>
void read_keys(T& target, toml::table const& table, std::string_view file, std::string_view place,
               std::array<known_key<T>, N> const& keys,
               std::initializer_list<std::string_view> needed) {
  for (auto const& [name, value] : table) {
    bool const known = std::any_of(keys.begin(), keys.end(),
                                   [&name = name](auto const& one) { return name == one.name; });
    if (known) continue;
    std::vector<std::string> there;
    for (auto const& one : keys) there.emplace_back(one.name);
    wrong_in_file(
        file, name.source(),
        fmt::format("'{}' is not known in {}; {}", name.str(), place,
                    list_of(name.str(), there, fmt::format("{}", fmt::join(there, ", ")))));
  }
  for (auto const& one : needed) {
    if (table.contains(one)) continue;
    wrong_in_file(file, table.source(), fmt::format("{} needs a {}", place, one));
  }
  for (auto const& one : keys) {
    auto const* const node = table.get(one.name);
    if (node != nullptr) one.read(target, toml_value(file, one.name, *node));
  }
}

}  // namespace command
