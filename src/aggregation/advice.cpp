// Which indexes would serve and are not there.
#include "aggregation/definition.hpp"

namespace daybook {
inline namespace v1 {
namespace aggregations {

std::vector<std::string> advice_on(core::context const& with, definition const& of) {
  auto const& s = of.options.source;
  // What finds the rows of a parent is its key, or its group, which no chunk changes; a trigger
  // may, so that what triggers did is looked for by the key.
  if (of.source.led_by(std::vector{s.link}) != nullptr) return {};
  std::string serves = s.link;
  for (auto const& one : s.group) {
    if (of.triggers || !says_its_group(of.options, of.parent, one)) break;
    if (of.source.led_by(std::vector{one}) != nullptr) return {};
    if (serves == s.link) serves = one;
  }
  return {tables::create_index(with, of.source, std::vector{serves})};
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
