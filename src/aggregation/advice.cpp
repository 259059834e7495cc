// Which indexes would serve and are not there.
#include "aggregation/definition.hpp"

namespace daybook {
inline namespace v1 {
namespace aggregations {

std::vector<std::string> advice_on(core::context const& with, definition const& of) {
  auto const& s = of.options.source;
  auto const quoted = [&](std::string const& name) { return tables::quoted(with.dialect, name); };
  auto const create = [&](std::string const& column) {
    return with.sql.text_of("aggregation.create_index",
                            {{"index", quoted(of.source.name + "_" + column)},
                             {"schema_name", quoted(of.source.schema)},
                             {"table", quoted(of.source.name)},
                             {"column", quoted(column)}});
  };
  std::vector<std::string> out;
  // What finds the rows of a parent: its key, or its group, which no chunk changes.
  bool const by_link = of.source.led_by(std::vector{s.link}) != nullptr;
  bool by_group = false;
  for (auto const& one : s.group) {
    by_group = by_group ||
               (of.source.led_by(std::vector{one}) != nullptr && of.parent.find(one) != nullptr);
  }
  if (!by_link && !by_group) {
    out.push_back(create(of.parent.find(s.group.front()) != nullptr ? s.group.front() : s.link));
  }
  return out;
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
