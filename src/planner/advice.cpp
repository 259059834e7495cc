// What the engine would do for a planner's query, looked through for tables that it reads whole.
#include "core/tx/transact.hpp"
#include "planner/asked.hpp"
#include "planner/store.hpp"
#include "tables/table.hpp"

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

std::string text_in(cell const& cell) {
  auto const* const text = std::get_if<std::string>(&cell);
  return text == nullptr ? std::string() : *text;
}

std::string word_after(std::string const& line, std::string_view mark) {
  auto const at = line.find(mark);
  if (at == std::string::npos) return {};
  auto const from = at + mark.size();
  return line.substr(from, line.find(' ', from) - from);
}

/// Which table a line of a plan, as any of the engines writes it, reads whole, by its alias where
/// it has one; empty: none.
std::string whole_table_in(std::span<cell const> line) {
  // "  ->  Seq Scan on orders o  (cost=...)"
  if (line.size() == 1) {
    auto const text = text_in(line[0]);
    auto const name = word_after(text, "Seq Scan on ");
    auto const alias = name.empty() ? name : word_after(text, " on " + name + " ");
    return alias.empty() ? name : alias;
  }
  // id, parent, not used, "SCAN orders" or "SCAN orders USING INDEX ..."
  if (line.size() == 4) {
    auto const text = text_in(line[3]);
    return text.find(" USING ") == std::string::npos ? word_after(text, "SCAN ") : std::string();
  }
  // id, select type, table, type, ...; MySQL has the partitions before the type
  std::size_t const type = line.size() == 12 ? 4 : 3;
  return line.size() > 4 && text_in(line[type]) == "ALL" ? text_in(line[2]) : std::string();
}

/// What would spare it, where that can be told.
std::string remedy(core::context const& context, db::session& session,
                   std::vector<std::string> const& words, std::string const& called) {
  tables::table table;
  try {
    table = tables::look(context, session, table_called(words, called));
  } catch (error const& e) {
    // What the engine calls a table may be none, but a part of the query.
    if (e.kind() != error_code::bad_argument) throw;
    return "an index on what it asks of that table, with the key, would spare it";
  }
  std::vector<std::string> names;
  for (auto const& one : table.columns) names.push_back(one.name);
  auto const columns = columns_asked(words, called, names);
  if (columns.empty()) return "it asks for all of it; a plan of kind sweep is made for that";
  if (auto const* const has = table.led_by(std::span(columns).first(1)); has != nullptr) {
    return "it has the index '" + has->name +
           "': either most rows are asked for, or its statistics are old";
  }
  return "an index may spare it: " + tables::create_index(context, table, columns);
}

}  // namespace

std::vector<std::string> store::advice() const {
  with().check_process();
  auto const* const how = std::get_if<query_strategy>(&definition_.options.strategy);
  std::vector<std::string> out;
  if (how == nullptr) return out;
  if (!around_.declared->cover(definition_)) {
    // Some engines execute parts of what they are to explain.
    return {"plan '" + definition_.name +
            "': its query is not explained here, for this program does not declare it"};
  }
  auto plan = with().sql.made("planned.explain", {{"query", how->query}});
  for (auto& one : plan.parts) {
    one.what.name = "user";
    one.what.takes_its_time = true;
  }
  core::read(with(), [&](db::session& session) {
    out.clear();
    std::set<std::string> said;
    auto const lines = db::run(session, plan, {});
    auto const words = words_of(how->query);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      auto const called = whole_table_in(lines.row(i));
      if (called.empty() || !said.insert(called).second) continue;
      out.push_back("plan '" + definition_.name + "': its query reads the whole table '" +
                    table_called(words, called) + "': " + remedy(with(), session, words, called));
    }
  });
  return out;
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
