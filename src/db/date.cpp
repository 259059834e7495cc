#include "db/date.hpp"

#include "base/numbers.hpp"

#include <algorithm>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace db {

namespace {

std::string padded(unsigned number, std::size_t width) {
  auto text = std::to_string(number);
  return std::string(width - std::min(width, text.size()), '0') + text;
}

}  // namespace

std::string text_of(std::chrono::year_month_day date) {
  return padded(static_cast<unsigned>(static_cast<int>(date.year())), 4) + "-" +
         padded(static_cast<unsigned>(date.month()), 2) + "-" +
         padded(static_cast<unsigned>(date.day()), 2);
}

std::optional<std::chrono::year_month_day> to_date(cell const& cell) {
  auto const* const text = std::get_if<std::string>(&cell);
  if (text == nullptr || text->size() != 10) return std::nullopt;
  std::string_view const whole = *text;
  if (whole[4] != '-' || whole[7] != '-') return std::nullopt;
  auto const year = base::number_of<unsigned>(whole.substr(0, 4));
  auto const month = base::number_of<unsigned>(whole.substr(5, 2));
  auto const day = base::number_of<unsigned>(whole.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  std::chrono::year_month_day const out{std::chrono::year{static_cast<int>(*year)},
                                        std::chrono::month{*month}, std::chrono::day{*day}};
  if (!out.ok()) return std::nullopt;
  return out;
}

}  // namespace db
}  // namespace v1
}  // namespace daybook
