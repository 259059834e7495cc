#include "tables/table.hpp"

#include "base/digest.hpp"
#include "core/tx/transact.hpp"
#include "db/cells.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace tables {

namespace {

constexpr std::int64_t most_named = 20;

constexpr std::array<std::pair<std::string_view, kind>, 7> kinds{{
    {"integer", kind::integer},
    {"text", kind::text},
    {"uuid", kind::uuid},
    {"date", kind::date},
    {"boolean", kind::boolean},
    {"decimal", kind::decimal},
    {"real", kind::real},
}};

kind kind_of(std::string_view word) {
  for (auto const& [name, what] : kinds) {
    if (name == word) return what;
  }
  return kind::other;
}

sort sort_of(std::string_view word) {
  if (word == "table") return sort::table;
  if (word == "partitioned") return sort::partitioned;
  return word == "view" ? sort::view : sort::other;
}

[[noreturn]] void none(core::context const& context, db::session& session, table const& wanted) {
  auto const found = db::run(session, context.sql["table.names"],
                             {wanted.schema, context.sql.prefix(), most_named});
  std::string names;
  for (std::size_t i = 0; i < found.size(); ++i) {
    names += (i == 0 ? "" : ", ") + db::get<std::string>(found.row(i)[0]);
  }
  if (std::cmp_equal(found.size(), most_named)) names += ", ...";
  throw error({.kind = error_code::bad_argument},
              "there is no table '" + wanted.name + "' in '" + wanted.schema + "'" +
                  (names.empty() ? ", nor any other" : "; there are " + names) +
                  ". One that is elsewhere is named with its schema, as 'shop." + wanted.name +
                  "'");
}

column column_of(std::span<cell const> row) {
  column out;
  out.name = db::get<std::string>(row[0]);
  out.what = kind_of(db::get<std::string>(row[1]));
  out.low = db::get<std::int64_t>(row[2]);
  out.high = db::get<std::int64_t>(row[3]);
  out.length = db::get<std::optional<std::int64_t>>(row[4]);
  out.nullable = db::get<std::int64_t>(row[5]) != 0;
  out.generated = db::get<std::int64_t>(row[6]) != 0;
  out.type = db::get<std::string>(row[7]);
  return out;
}

std::vector<index> indexes_of(db::table const& found) {
  std::vector<index> out;
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto const row = found.row(i);
    auto name = db::get<std::string>(row[0]);
    if (out.empty() || out.back().name != name) {
      out.push_back({.name = std::move(name),
                     .columns = {},
                     .unique = db::get<std::int64_t>(row[2]) != 0,
                     .primary = db::get<std::int64_t>(row[3]) != 0,
                     .deferrable = db::get<std::int64_t>(row[4]) != 0,
                     .condition = db::get<std::string>(row[5])});
    }
    out.back().columns.push_back(db::get<std::optional<std::string>>(row[1]).value_or(""));
  }
  return out;
}

std::string doubled(std::string_view text, char quote) {
  std::string out(1, quote);
  for (char const c : text) {
    if (c == quote) out.push_back(quote);
    out.push_back(c);
  }
  out.push_back(quote);
  return out;
}

std::string_view word_of(kind kind) {
  for (auto const& [name, known] : kinds) {
    if (known == kind) return name;
  }
  return "text";
}

}  // namespace

column const* table::find(std::string_view wanted) const noexcept {
  auto const found = std::find_if(columns.begin(), columns.end(),
                                  [&](auto const& one) { return one.name == wanted; });
  return found == columns.end() ? nullptr : &*found;
}

uniqueness table::unique(std::span<std::string const> wanted) const {
  auto const asked = [&](std::string const& one) {
    return std::find(wanted.begin(), wanted.end(), one) != wanted.end();
  };
  uniqueness out;
  for (auto const& one : indexes) {
    bool const fits = one.unique && one.condition.empty() &&
                      std::all_of(one.columns.begin(), one.columns.end(), asked);
    if (fits && !one.deferrable) return {.holds = true, .index = one.name};
    if (!fits || !out.remedy.empty()) continue;
    out.remedy = "the constraint '" + one.name +
                 "' is deferrable, so two rows of a transaction may have one key: declare it 'not "
                 "deferrable'";
  }
  return out;
}

index const* table::led_by(std::span<std::string const> wanted) const noexcept {
  auto const found = std::find_if(indexes.begin(), indexes.end(), [&](index const& one) {
    return one.condition.empty() && one.columns.size() >= wanted.size() &&
           std::equal(wanted.begin(), wanted.end(), one.columns.begin());
  });
  return found == indexes.end() ? nullptr : &*found;
}

table named(core::context const& context, db::session& session, std::string_view name) {
  auto const dot = name.find('.');
  table out;
  out.schema = dot == std::string_view::npos ? session.schema() : std::string(name.substr(0, dot));
  out.name = dot == std::string_view::npos ? name : name.substr(dot + 1);
  out.sql = quoted(context.dialect, out.schema) + "." + quoted(context.dialect, out.name);
  return out;
}

table look(core::context const& context, db::session& session, std::string_view name) {
  auto out = named(context, session, name);
  auto const about = db::run(session, context.sql["table.about"], {out.schema, out.name});
  if (about.size() == 0) none(context, session, out);
  out.what = sort_of(db::get<std::string>(about.row(0)[0]));
  out.transactional = db::get<std::int64_t>(about.row(0)[1]) != 0;
  out.strict = db::get<std::int64_t>(about.row(0)[2]) != 0;
  auto const columns = db::run(session, context.sql["table.columns"], {out.schema, out.name});
  for (std::size_t i = 0; i < columns.size(); ++i) {
    out.columns.push_back(column_of(columns.row(i)));
  }
  out.indexes = indexes_of(db::run(session, context.sql["table.indexes"], {out.schema, out.name}));
  return out;
}

table look(core::context const& context, std::string_view name) {
  table out;
  core::read(context, [&](db::session& session) { out = look(context, session, name); });
  return out;
}

column const& need(table const& table, std::string_view wanted, std::string_view option) {
  if (auto const* const found = table.find(wanted)) return *found;
  std::string names;
  for (auto const& one : table.columns) names += (names.empty() ? "" : ", ") + one.name;
  throw error({.kind = error_code::bad_argument}, std::string(option) + ": table '" + table.name +
                                                      "' has no column '" + std::string(wanted) +
                                                      "'; it has " + names);
}

std::string quoted(db::dialect const& dialect, std::string_view identifier) {
  if (identifier.empty() || identifier.find('\0') != std::string_view::npos) {
    throw error({.kind = error_code::bad_argument},
                "a name of a table or a column is empty, or holds a zero byte");
  }
  return doubled(identifier, dialect.quote);
}

std::string literal(db::dialect const& dialect, std::string_view text) {
  auto out = doubled(text, '\'');
  if (dialect.backslash_escapes) {
    for (std::size_t at = 0; (at = out.find('\\', at)) != std::string::npos; at += 2) {
      out.insert(at, 1, '\\');
    }
  }
  return out;
}

namespace {

/// The name of an index: never that of a table, whose names it may share, and never so long that
/// an engine refuses it, or cuts it to that of another.
std::string index_name(std::string const& full) {
  constexpr std::string_view suffix = "_idx";
  constexpr std::size_t longest = 63;
  constexpr std::size_t kept = 50;
  constexpr std::size_t digits = 8;
  if (full.size() + suffix.size() <= longest) return full + std::string(suffix);
  auto end = kept;
  while (end > 0 && (static_cast<unsigned char>(full[end]) & 0xc0U) == 0x80U) --end;
  return full.substr(0, end) + "_" + base::digest({full}).substr(0, digits) + std::string(suffix);
}

}  // namespace

std::string create_index(core::context const& context, table const& table,
                         std::span<std::string const> columns) {
  auto name = table.name;
  std::string list;
  for (auto const& one : columns) {
    name += "_" + one;
    list += (list.empty() ? "" : ", ") + quoted(context.dialect, one);
  }
  return context.sql.text_of("table.create_index",
                             {{"index", quoted(context.dialect, index_name(name))},
                              {"schema_name", quoted(context.dialect, table.schema)},
                              {"table", quoted(context.dialect, table.name)},
                              {"columns", list}});
}

bool can_be_key(column const& column) noexcept {
  return column.what == kind::integer || column.what == kind::text || column.what == kind::uuid ||
         column.what == kind::date;
}

std::string key_of(core::context const& context, column const& column,
                   std::string_view column_sql) {
  return context.sql.text_of("key.of_" + std::string(word_of(column.what)),
                             {{"column", std::string(column_sql)}});
}

std::string value_of(core::context const& context, column const& column, std::string_view key_sql) {
  return context.sql.text_of("key.as_" + std::string(word_of(column.what)),
                             {{"key", std::string(key_sql)}});
}

std::string is_key(core::context const& context, std::string_view text_sql) {
  return context.sql.text_of("key.is_one", {{"key", std::string(text_sql)}});
}

}  // namespace tables
}  // namespace v1
}  // namespace daybook
