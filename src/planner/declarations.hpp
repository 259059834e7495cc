// What a program has declared of its planners. Whoever may write the book's tables may write SQL
// there, which would run with the rights of whoever reads it: a program executes what it has
// declared itself.
// Thread-safe.
#pragma once

#include "planner/definition.hpp"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace planners {

class declarations {
 public:
  /// Each stays: another process, or the same one, may declare it so again.
  void add(std::string_view name, planner_options const& options);
  /// Whether the program declared the SQL of this planner, or the planner has none.
  [[nodiscard]] bool cover(definition const& planner) const;
  /// On failure: daybook::error (error_code::configuration) where they do not cover it; `url` says
  /// which book has it.
  void need(definition const& planner, std::string_view url) const;

 private:
  /// A query, a check, the names of a table that is swept.
  using sql = std::vector<std::string>;
  [[nodiscard]] static sql sql_of(planner_options const& options);

  mutable std::mutex guard_;
  std::map<std::string, std::set<sql>, std::less<>> all_;
};

}  // namespace planners
}  // namespace v1
}  // namespace daybook
