// Which indexes would serve and are not there.
#include "aggregation/definition.hpp"
#include "aggregation/statements.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace aggregations {

bool says_its_group(aggregation_options const& options, tables::table const& parent,
                    std::string_view column) {
  auto const set = [&](auto const& list) {
    return std::any_of(list.begin(), list.end(),
                       [&](auto const& one) { return one.column == column; });
  };
  return parent.find(column) != nullptr && !set(options.parent.opening) &&
         !set(options.parent.following);
}

std::vector<std::string> advice_on(core::context const& context, definition const& aggregation) {
  auto const& s = aggregation.options.source;
  // What finds the rows of a parent is its key, or its group, which no chunk changes; a trigger
  // may, so that what triggers did is looked for by the key.
  if (aggregation.source.led_by(std::vector{s.link}) != nullptr) return {};
  std::string serves = s.link;
  for (auto const& one : s.group) {
    if (aggregation.triggers || !says_its_group(aggregation.options, aggregation.parent, one))
      break;
    if (aggregation.source.led_by(std::vector{one}) != nullptr) return {};
    if (serves == s.link) serves = one;
  }
  return {tables::create_index(context, aggregation.source, std::vector{serves})};
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
