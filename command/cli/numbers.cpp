#include "cli/numbers.hpp"

#include <charconv>
#include <cstddef>
#include <system_error>

namespace command {

std::optional<leading_number> number_in_front(std::string_view text) noexcept {
  // from_chars takes a minus, and we do not.
  if (text.empty() || text.front() < '0' || text.front() > '9') return {};
  std::int64_t number = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{}) return {};
  return leading_number{number, text.substr(static_cast<std::size_t>(end - text.data()))};
}

std::optional<std::int64_t> whole_number(std::string_view text) noexcept {
  auto const found = number_in_front(text);
  if (!found || !found->rest.empty()) return {};
  return found->number;
}

}  // namespace command
