#include "cli/queue_words.hpp"

#include "cli/numbers.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>

namespace command {

namespace {

using std::chrono::microseconds;

struct rate_unit {
  std::string_view name;
  microseconds length;
};
constexpr std::array<rate_unit, 4> units{{{"s", std::chrono::seconds{1}},
                                          {"m", std::chrono::minutes{1}},
                                          {"h", std::chrono::hours{1}},
                                          {"d", std::chrono::hours{24}}}};

}  // namespace

std::optional<daybook::rate> rate_from(std::string_view text) {
  auto const front = number_in_front(text);
  if (!front || !front->rest.starts_with('/')) return {};
  for (auto const& one : units) {
    if (front->rest.substr(1) == one.name) return daybook::rate{front->number, one.length};
  }
  return {};
}

std::string text_of(daybook::rate const& rate) {
  // The book keeps what lies between two starts, in whole microseconds.
  auto const slot = rate.per / rate.count;
  for (auto const& one : units) {
    auto const count = one.length / slot;
    if (count > 0 && one.length / count == slot) return fmt::format("{}/{}", count, one.name);
  }
  return fmt::format("1/{}ms", std::chrono::ceil<std::chrono::milliseconds>(slot).count());
}

}  // namespace command
