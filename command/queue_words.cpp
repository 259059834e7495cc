#include "queue_words.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>

namespace command {

namespace {

using std::chrono::microseconds;

struct unit {
  std::string_view name;
  microseconds length;
};
constexpr std::array<unit, 4> units{{{"s", std::chrono::seconds{1}},
                                     {"m", std::chrono::minutes{1}},
                                     {"h", std::chrono::hours{1}},
                                     {"d", std::chrono::hours{24}}}};

}  // namespace

std::optional<daybook::rate> rate_from(std::string_view text) {
  auto const slash = text.find('/');
  if (slash == 0 || slash == std::string_view::npos || text.front() == '-') return {};
  std::int64_t count = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + slash, count);
  if (problem != std::errc{} || end != text.data() + slash) return {};
  for (auto const& one : units) {
    if (text.substr(slash + 1) == one.name) return daybook::rate{count, one.length};
  }
  return {};
}

std::string text_of(daybook::rate const& of) {
  // The book keeps what lies between two starts, in whole microseconds.
  auto const slot = of.per / of.count;
  for (auto const& one : units) {
    auto const count = one.length / slot;
    if (count > 0 && one.length / count == slot) return fmt::format("{}/{}", count, one.name);
  }
  return fmt::format("1/{}ms", std::chrono::ceil<std::chrono::milliseconds>(slot).count());
}

}  // namespace command
