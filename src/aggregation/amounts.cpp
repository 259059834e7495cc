#include "aggregation/amounts.hpp"

#include "base/numbers.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <variant>

namespace daybook {
inline namespace v1 {
namespace aggregations {

namespace {

constexpr std::size_t columns_of_amount = 4;
constexpr std::size_t columns_before = 4;

exact parsed(std::string_view text) {
  bool const negative = text.starts_with('-');
  exact out = 0;
  for (char const c : text.substr(negative ? 1 : 0)) out = out * 10 + (c - '0');
  return negative ? -out : out;
}

std::int64_t count_in(cell const& cell) { return number_in(cell).value_or(0); }

}  // namespace

exact exact_in(std::string_view text) {
  auto const space = text.find(' ');
  if (space == std::string_view::npos) return parsed(text);
  return parsed(text.substr(0, space)) * (exact{1} << 32) + parsed(text.substr(space + 1));
}

std::string text_of(exact number) {
  bool const negative = number < 0;
  std::string out;
  do {
    auto const digit = static_cast<int>(number % 10);
    out.push_back(static_cast<char>('0' + (digit < 0 ? -digit : digit)));
    number /= 10;
  } while (number != 0);
  if (negative) out.push_back('-');
  std::reverse(out.begin(), out.end());
  return out;
}

std::optional<std::int64_t> narrowed(exact number) noexcept {
  using limits = std::numeric_limits<std::int64_t>;
  if (number < limits::min() || number > limits::max()) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::string text_in(cell const& cell) {
  return std::visit(
      [](auto const& what) -> std::string {
        using kind = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<kind, std::string>) {
          return what;
        } else if constexpr (std::is_same_v<kind, std::nullptr_t>) {
          return {};
        } else {
          return std::to_string(what);
        }
      },
      cell);
}

std::optional<std::int64_t> number_in(cell const& cell) {
  if (auto const* const number = std::get_if<std::int64_t>(&cell)) return *number;
  auto const* const text = std::get_if<std::string>(&cell);
  return text == nullptr ? std::nullopt : base::number_of(*text);
}

std::vector<group_rows> groups_of(db::table const& found) {
  std::vector<group_rows> out(found.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto const row = found.row(i);
    auto& one = out[i];
    decode(row[0], one.group);
    one.first = text_in(row[1]);
    one.count = count_in(row[2]);
    one.strays = count_in(row[3]);
    for (auto at = columns_before; at < row.size(); at += columns_of_amount) {
      one.amounts.push_back({exact_in(text_in(row[at])), count_in(row[at + 1]),
                             count_in(row[at + 2]) != 0, count_in(row[at + 3])});
    }
  }
  return out;
}

std::vector<std::string> keys_of(std::string_view group) {
  std::vector<std::string> out;
  for (;;) {
    auto const end = group.find('\x1f');
    out.emplace_back(group.substr(0, end));
    if (end == std::string_view::npos) return out;
    group.remove_prefix(end + 1);
  }
}

std::string shown(std::optional<std::string> const& group) {
  return group ? base::listed(keys_of(*group)) : "null";
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
