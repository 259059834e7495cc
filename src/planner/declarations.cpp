#include "planner/declarations.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <variant>

namespace daybook {
inline namespace v1 {
namespace planners {

declarations::sql declarations::sql_of(planner_options const& options) {
  sql out{options.check};
  if (auto const* const query = std::get_if<query_strategy>(&options.strategy)) {
    out.push_back(query->query);
  } else if (auto const* const sweep = std::get_if<sweep_strategy>(&options.strategy)) {
    out.push_back("");  // no query is the name of a table
    out.push_back(sweep->table);
    out.push_back(sweep->created);
    out.insert(out.end(), sweep->key.begin(), sweep->key.end());
  }
  return out;
}

void declarations::add(std::string_view name, planner_options const& options) {
  std::lock_guard const lock(guard_);
  all_[std::string(name)].insert(sql_of(options));
}

bool declarations::cover(definition const& planner) const {
  auto const wanted = sql_of(planner.options);
  if (std::all_of(wanted.begin(), wanted.end(), [](auto const& one) { return one.empty(); })) {
    return true;
  }
  std::lock_guard const lock(guard_);
  auto const found = all_.find(planner.name);
  return found != all_.end() && found->second.contains(wanted);
}

void declarations::need(definition const& planner, std::string_view url) const {
  if (cover(planner)) return;
  bool known = false;
  {
    std::lock_guard const lock(guard_);
    known = all_.contains(planner.name);
  }
  throw error({.kind = error_code::configuration},
              "plan '" + planner.name + "' in " + std::string(url) + ": " +
                  (known ? "its SQL there differs from what this program declares"
                         : "this program does not declare it") +
                  ", and a program executes only SQL of its own: see 'daybook plans show " +
                  planner.name +
                  "', then declare it the same here (make_planner, or [[plan]] in daybook.toml)");
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
