#include "planner/sources/keyset.hpp"

#include "base/text.hpp"
#include "planner/definition.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <cctype>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace planners {

namespace {

using tables::kind;

/// As sweep.place_KIND has it; empty: rows cannot be put in the order of such a column.
std::string kind_of(tables::column const& column) {
  switch (column.what) {
    case kind::integer: return "integer";
    case kind::text: return "text";
    case kind::uuid: return "uuid";
    case kind::date: return "date";
    default: break;
  }
  std::string type;
  for (char const c : column.type)
    type += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (!type.starts_with("timestamp") && !type.starts_with("datetime")) return {};
  return type.find("with time zone") == std::string::npos ? "time" : "zoned";
}

std::vector<std::string> primary_key(tables::table const& table) {
  for (auto const& one : table.indexes) {
    if (one.primary) return one.columns;
  }
  return {};
}

}  // namespace

void keyset::bad(std::string const& reason) const { planners::bad(planner_, reason); }

keyset::keyset(core::context const& context, std::string_view planner,
               sweep_strategy const& strategy)
    : planner_(planner) {
  try {
    table_ = tables::look(context, strategy.table);
  } catch (error const& e) {
    if (e.kind() != error_code::bad_argument) throw;
    bad(e.what());
  }
  look_at(context, strategy);
  make_statements(context, need_index(context, strategy));
}

tables::column const& keyset::usable(std::string const& column) const {
  auto const& found = tables::need(table_, column, "plan '" + planner_ + "'");
  if (found.nullable) {
    bad("the column '" + column + "' of table '" + table_.name +
        "' may be null, and such rows have no place: declare it 'not null'");
  }
  return found;
}

void keyset::look_at(core::context const& context, sweep_strategy const& strategy) {
  if (table_.what == tables::sort::view || table_.what == tables::sort::other) {
    bad("'" + table_.name + "' is a view, or no table of rows: name the table below it");
  }
  if (!table_.transactional) {
    bad("the engine of table '" + table_.name + "' has no transactions: convert it to InnoDB");
  }
  key_ = strategy.key.empty() ? primary_key(table_) : strategy.key;
  if (key_.empty()) {
    bad("table '" + table_.name + "' has no primary key: name the columns of a unique one (key)");
  }
  auto const add = [&](std::string const& column, bool as_key) {
    auto const& found = usable(column);
    auto kind = kind_of(found);
    if (kind.empty() || (as_key && !tables::can_be_key(found))) {
      bad("the column '" + column + "' of table '" + table_.name + "' is of type " + found.type +
          ": " +
          (as_key ? "keys are integers, texts, uuids and dates"
                  : "pages are cut by integers, texts, uuids, dates and timestamps"));
    }
    parts_.push_back({"s." + tables::quoted(context.dialect, column), std::move(kind)});
  };
  if (!strategy.created.empty()) add(strategy.created, false);
  before_key_ = parts_.size();
  for (auto const& one : key_) {
    if (std::count(key_.begin(), key_.end(), one) > 1) bad("its key names '" + one + "' twice");
    add(one, true);
  }
  if (auto const unique = table_.unique(key_); !unique.holds) {
    bad("(" + base::listed(key_) + ") need not be unique in table '" + table_.name + "': " +
        (unique.remedy.empty() ? "it wants a unique index over these columns, or the primary key "
                                 "(key)"
                               : unique.remedy));
  }
}

std::string keyset::need_index(core::context const& context, sweep_strategy const& strategy) const {
  auto wanted = key_;
  if (!strategy.created.empty()) wanted.insert(wanted.begin(), strategy.created);
  if (auto const* const whole = table_.led_by(wanted)) return whole->name;
  if (!strategy.created.empty() && key_ == primary_key(table_) &&
      context.sql.text_of("sweep.index_ends_with_key", {}) == "true") {
    for (auto const& one : table_.indexes) {
      if (one.columns == std::vector{strategy.created}) return one.name;
    }
  }
  // Few rows may be sorted each time.
  if (strategy.in_memory) return {};
  bad("no index of table '" + table_.name + "' has (" + base::listed(wanted) +
      ") in this order, so that each page would read all rows: create one");
}

std::string keyset::compared(core::context const& context, char name, std::string_view sign,
                             std::string_view last_sign) const {
  std::vector<std::string> given;
  for (auto const& one : parts_) {
    given.push_back(context.sql.text_of("sweep.value_" + one.kind,
                                        {{"given", ":" + (name + std::to_string(given.size()))}}));
  }
  auto const last = parts_.size() - 1;
  if (last == 0) return parts_[0].sql + " " + std::string(last_sign) + " " + given[0];
  std::string out;
  if (context.sql.text_of("sweep.compared", {}) == "together") {
    std::string columns;
    for (auto const& one : parts_) columns += (columns.empty() ? "" : ", ") + one.sql;
    return "(" + columns + ") " + std::string(last_sign) + " (" + base::listed(given) + ")";
  }
  // a > :a0 or a = :a0 and b > :a1 or ...: a range of the index for each.
  std::string equal;
  for (std::size_t i = 0; i <= last; ++i) {
    out += (out.empty() ? "(" : " or ") + equal + parts_[i].sql + " " +
           std::string(i == last ? last_sign : sign) + " " + given[i];
    equal += parts_[i].sql + " = " + given[i] + " and ";
  }
  return out + ")";
}

void keyset::make_statements(core::context const& context, std::string const& index) {
  std::string places;
  std::string keys;
  std::string fits;
  std::string order;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    auto const& one = parts_[i];
    auto const piece = [&](std::string const& reason) {
      return context.sql.text_of("sweep." + reason + "_" + one.kind, {{"column", one.sql}});
    };
    places += piece("place") + ", ";
    if (i >= before_key_) keys += (keys.empty() ? "" : ", ") + piece("place");
    fits += (fits.empty() ? "" : " and ") + ("(" + piece("ok") + ")");
    order += (order.empty() ? "" : ", ") + one.sql;
  }
  auto const hint = index.empty()
                        ? std::string()
                        : context.sql.text_of("sweep.by_index",
                                              {{"index", tables::quoted(context.dialect, index)}});
  auto const reading = [&](std::string const& columns, bool after, bool until) {
    std::string condition = after ? compared(context, 'a', ">", ">") : "1 = 1";
    if (until) condition += " and " + compared(context, 'u', "<", "<=");
    std::vector<std::string> inputs;
    for (char const name : {'a', 'u'}) {
      if (!(name == 'a' ? after : until)) continue;
      for (std::size_t at = 0; at < parts_.size(); ++at) {
        inputs.push_back(name + std::to_string(at));
      }
    }
    inputs.emplace_back("limit");
    auto const text = context.sql.text_of("sweep.rows", {{"source", table_.sql},
                                                         {"hint", hint},
                                                         {"columns", columns},
                                                         {"condition", condition},
                                                         {"order", order}});
    return db::rewrite("sweep.rows", text, context.user_sql.style(), inputs);
  };
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    statements_.at(i) =
        reading(places + "case when " + fits + " then 1 else 0 end", (i & 1U) != 0, (i & 2U) != 0);
  }
  for (std::size_t i = 0; i < keys_only_.size(); ++i) {
    keys_only_.at(i) = reading(keys, i == 1, true);
  }
}

std::vector<value> keyset::between(place const& after, place const& until) const {
  std::vector<value> out;
  for (auto const* const from : {&after, &until}) {
    if (!from->empty() && from->size() != parts_.size()) {
      bad("its pages were cut by other columns than table '" + table_.name + "' has now");
    }
    for (auto const& one : *from) out.emplace_back(std::string_view(one));
  }
  return out;
}

std::optional<std::vector<row_key>> keyset::keys(db::session& session, place const& after,
                                                 place const& until, std::size_t most) const {
  auto values = between(after, until);
  values.emplace_back(static_cast<std::int64_t>(most) + 1);
  auto found = session.run(keys_only_.at(after.empty() ? 0 : 1), values);
  if (found.size() > most) return std::nullopt;
  std::vector<row_key> out(found.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (auto const& one : found.row(i)) decode(one, out[i].emplace_back());
  }
  return out;
}

std::vector<placed_row> keyset::rows(db::session& session, place const& after, place const& until,
                                     std::int64_t limit) const {
  auto values = between(after, until);
  values.emplace_back(limit);
  auto const found = session.run(statement(!after.empty(), !until.empty()), values);
  std::vector<placed_row> out(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto const row = found.row(i);
    auto& one = out[i];
    std::int64_t fits = 0;
    decode(row[parts_.size()], fits);
    if (fits == 0) {
      bad("table '" + table_.name + "' has a row that has no place in the order of its index, " +
          (i == 0 ? std::string("at its beginning or after the last page")
                  : "after the key " + base::listed(out[i - 1].key)) +
          ": a value is not of its column's type, or no day of the calendar");
    }
    for (std::size_t at = 0; at < parts_.size(); ++at) {
      decode(row[at], one.place.emplace_back());
    }
    one.key.assign(one.place.begin() + static_cast<std::ptrdiff_t>(before_key_), one.place.end());
  }
  return out;
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
