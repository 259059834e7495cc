// What the engine would do for a planner's query, looked through for tables that it reads whole.
#include "core/transact.hpp"
#include "planner/store.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace daybook {
inline namespace v1 {
namespace planners {

namespace {

std::string text_in(cell const& from) {
  auto const* const text = std::get_if<std::string>(&from);
  return text == nullptr ? std::string() : *text;
}

std::string word_after(std::string const& line, std::string_view mark) {
  auto const at = line.find(mark);
  if (at == std::string::npos) return {};
  auto const from = at + mark.size();
  return line.substr(from, line.find(' ', from) - from);
}

/// Which table a line of a plan, as any of the engines writes it, reads whole; empty: none.
std::string whole_table_in(std::span<cell const> line) {
  // "  ->  Seq Scan on orders  (cost=...)"
  if (line.size() == 1) return word_after(text_in(line[0]), "Seq Scan on ");
  // id, parent, not used, "SCAN orders" or "SCAN orders USING INDEX ..."
  if (line.size() == 4) {
    auto const text = text_in(line[3]);
    return text.find(" USING ") == std::string::npos ? word_after(text, "SCAN ") : std::string();
  }
  // id, select type, table, type, ...
  return line.size() > 4 && text_in(line[3]) == "ALL" ? text_in(line[2]) : std::string();
}

}  // namespace

std::vector<std::string> store::advice() const {
  with().check_process();
  auto const* const how = std::get_if<query_strategy>(&of_.options.strategy);
  std::vector<std::string> out;
  if (how == nullptr) return out;
  auto plan = with().sql.made("planned.explain", {{"query", how->query}});
  for (auto& one : plan.parts) one.what.name = "user";
  core::read(with(), patience, [&](db::session& on) {
    out.clear();
    std::set<std::string> said;
    auto const lines = db::run(on, plan, {});
    for (std::size_t i = 0; i < lines.size(); ++i) {
      auto const table = whole_table_in(lines.row(i));
      if (table.empty() || !said.insert(table).second) continue;
      out.push_back("plan '" + of_.name + "': its query reads the whole table '" + table +
                    "': an index on what it asks of that table, with the key, would spare it");
    }
  });
  return out;
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
