// Rows of several tables as lines of words, in one statement: one snapshot, one cell.
// Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torture {

/// "select" of a line: the columns with blanks between.
inline std::string line(std::string_view dialect, std::vector<std::string> const& columns) {
  std::string out = dialect == "mysql" ? "select concat_ws(' '" : "select ''";
  for (auto const& one : columns) {
    out += dialect == "mysql" ? ", " + one : " || ' ' || cast(" + one + " as text)";
  }
  return out + (dialect == "mysql" ? ") as one_row" : " as one_row");
}

/// All of their lines.
inline std::string lines_of(std::string_view dialect, std::vector<std::string> const& parts) {
  std::string all;
  for (auto const& one : parts) all += (all.empty() ? "" : " union all ") + one;
  if (dialect == "mysql") {
    return "select coalesce(group_concat(one_row separator '\\n'), '') from (" + all + ") t";
  }
  bool const lite = dialect == "sqlite";
  return "select coalesce(" + std::string(lite ? "group_concat" : "string_agg") + "(one_row, " +
         (lite ? "char(10)" : "chr(10)") + "), '') from (" + all + ") t";
}

}  // namespace torture
