#include "aggregation/statements.hpp"

#include "aggregation/conversion.hpp"
#include "base/mutant.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace aggregations {

namespace {

std::string number(std::int64_t value) {
  // The digits of the least one are those of no number of 64 bits.
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807 - 1)";
  return std::to_string(value);
}

std::string word_of(tables::kind kind) {
  switch (kind) {
    case tables::kind::integer: return "integer";
    case tables::kind::uuid: return "uuid";
    case tables::kind::date: return "date";
    default: return "text";
  }
}

db::entry made(core::context const& context, std::string_view shape, db::holes const& holes) {
  auto out = context.sql.made("aggregation." + std::string(shape), holes);
  // Those that find one row, or rows of ours, by their keys are as short as others of ours.
  static constexpr std::array<std::string_view, 4> by_key{"open", "parent", "link_of", "free_row"};
  bool const is_short = std::find(by_key.begin(), by_key.end(), shape) != by_key.end();
  for (auto& one : out.parts) one.what.takes_its_time = !is_short;
  for (auto* const whole : {&out.together, &out.within}) {
    if (*whole) (*whole)->takes_its_time = !is_short;
  }
  return out;
}

/// Puts the pieces together.
class maker {
 public:
  maker(core::context const& context, aggregation_options const& options,
        tables::table const& source, tables::table const& parent)
      : context_(context),
        options_(options),
        source_(source),
        parent_(parent),
        to_link_(conversion_to(context, source, link())),
        to_parent_(conversion_to(context, parent, parent_key())) {
    auto const& s = options.source;
    auto const& p = options.parent;
    common_ = {
        {"source", source.sql},
        {"key", row(s.key)},
        {"key_index", name(source.unique(std::vector{s.key}).index)},
        {"state", name(s.state)},
        {"link", name(s.link)},
        {"taken", sql_of(context, s.taken)},
        {"group", group()},
        {"parent", parent.sql},
        {"parent_key", "p." + name(p.key)},
        {"parent_key_index", name(parent.unique(std::vector{p.key}).index)},
        {"is_free", is_free()},
        {"is_taken", row(s.state) + " = " + sql_of(context, s.taken) + " and " + row(s.link)},
        {"first_key", first_key()},
        {"apart", apart()},
        {"amounts", amounts("s.", false)},
        {"amounts_of", amounts("u.", true)},
        {"returned", returned()},
        {"of_parent", of_parent(s.taken)},
        {"as_link", as_key(link(), to_link_, "o.parent_key")}};
  }

  [[nodiscard]] statements all() const;

 private:
  [[nodiscard]] db::holes of_values() const {
    return {{"parent_values", parent_values()},
            {"key_text", as_key(parent_key(), to_parent_, "o.parent_key")}};
  }
  [[nodiscard]] std::string name(std::string_view column) const {
    return tables::quoted(context_.dialect, column);
  }
  [[nodiscard]] std::string row(std::string_view column) const { return "s." + name(column); }
  [[nodiscard]] tables::column const& link() const { return *source_.find(options_.source.link); }
  [[nodiscard]] tables::column const& parent_key() const {
    return *parent_.find(options_.parent.key);
  }

  [[nodiscard]] std::string piece(std::string_view shape, db::holes const& placeholders) const {
    return context_.sql.text_of("aggregation." + std::string(shape), placeholders);
  }
  /// A key of ours as the column has it.
  [[nodiscard]] std::string as_key(tables::column const& column, conversion const& conversion,
                                   std::string const& key) const {
    if (column.what == tables::kind::integer) return piece("as_integer", {{"key", key}});
    return conversion.before + key + conversion.after;
  }
  /// A column as the text that it is with us.
  [[nodiscard]] std::string text(tables::column const& column, std::string const& sql) const {
    return piece("group", {{"keys", tables::key_of(context_, column, sql)}});
  }
  /// A link as the parent's key.
  [[nodiscard]] std::string like_parent(std::string const& link_sql) const {
    return to_parent_.before + link_sql + to_parent_.after;
  }
  [[nodiscard]] std::string group() const;
  /// What groups differ in: their columns, or (1) their text.
  [[nodiscard]] std::string apart() const;
  [[nodiscard]] std::string is_free() const;
  [[nodiscard]] std::string is_unlinked() const;
  [[nodiscard]] std::string unlinked() const;
  /// True or false, never null.
  [[nodiscard]] std::string linked_to_nothing() const {
    auto const link_sql = row(options_.source.link);
    if (!options_.source.unlinked) return "(" + link_sql + " is null)";
    return "(" + link_sql + " is not null and " + is_unlinked() + ")";
  }
  void verifying(statements& out) const;
  [[nodiscard]] std::string first_key() const;
  [[nodiscard]] std::string amounts(std::string const& amount, bool returned,
                                    std::string_view shape = "amount") const;
  [[nodiscard]] std::string returned() const;
  /// Rows of :parent that are in a state.
  [[nodiscard]] std::string of_parent(state_value const& state) const;
  [[nodiscard]] std::string free_again() const {
    return name(options_.source.state) + " = " + sql_of(context_, options_.source.free) + ", " +
           name(options_.source.link) + " = " + unlinked();
  }
  [[nodiscard]] std::string parent_values() const;
  [[nodiscard]] std::string given(tables::column const& column, conversion const& conversion,
                                  std::string_view as, std::size_t index) const {
    return piece(
        "given_" + word_of(column.what),
        {{"name", std::string(as)}, {"at", std::to_string(index)}, {"type", conversion.given}});
  }
  [[nodiscard]] std::string given_parent() const {
    return given(parent_key(), to_parent_, "daybook_key", 0);
  }
  [[nodiscard]] std::string given_sums() const;
  enum class how : std::uint8_t { add, replace, clear };
  [[nodiscard]] std::string changes(how changes) const;
  [[nodiscard]] std::string room() const;
  [[nodiscard]] std::string room_in(std::string const& column, std::string const& more) const;
  [[nodiscard]] std::string parent_is(state_value const& state) const {
    return "p." + name(options_.parent.state) + " = " + sql_of(context_, state);
  }
  [[nodiscard]] std::string to_state(state_value const& state) const {
    return name(options_.parent.state) + " = " + sql_of(context_, state);
  }
  [[nodiscard]] db::entry make(std::string_view shape, db::holes more = {}) const {
    more.insert(common_.begin(), common_.end());
    return made(context_, shape, more);
  }
  [[nodiscard]] db::entry make_parents() const;
  [[nodiscard]] db::entry set_parents(std::string const& given, std::string const& changes,
                                      std::string const& condition) const {
    return make("set_parents", {{"given", given}, {"changes", changes}, {"condition", condition}});
  }
  [[nodiscard]] db::entry follow() const;

  core::context const& context_;
  aggregation_options const& options_;
  tables::table const& source_;
  tables::table const& parent_;
  conversion to_link_;
  conversion to_parent_;
  db::holes common_;
};

std::string maker::group() const {
  std::string keys;
  auto const separator = " " + piece("separator", {}) + " ";
  for (auto const& one : options_.source.group) {
    keys +=
        (keys.empty() ? "" : separator) + tables::key_of(context_, *source_.find(one), row(one));
  }
  return piece("group", {{"keys", keys}});
}

std::string maker::apart() const {
  std::string out;
  for (auto const& one : options_.source.group) {
    // Texts are compared in many ways, some of which take two for one.
    if (source_.find(one)->what == tables::kind::text) return "1";
    out += (out.empty() ? "" : ", ") + piece("native", {{"column", row(one)}});
  }
  return out;
}

std::string maker::unlinked() const {
  auto const& text = options_.source.unlinked;
  if (!text) return "null";
  if (link().what == tables::kind::integer) return *text;
  return tables::literal(context_.dialect, *text);
}

std::string maker::is_unlinked() const {
  return row(options_.source.link) + (options_.source.unlinked ? " = " + unlinked() : " is null");
}

std::string maker::is_free() const {
  auto out = row(options_.source.state) + " = " + sql_of(context_, options_.source.free) + " and " +
             is_unlinked();
  if (base::left_out("agg_state")) out = "1 = 1";
  // The end of the line ends a comment, too.
  if (!options_.source.filter.empty()) out += " and (" + options_.source.filter + "\n)";
  return out;
}

std::string maker::first_key() const {
  auto const& key = *source_.find(options_.source.key);
  auto const sql = row(options_.source.key);
  // Not every engine knows the least of uuids.
  return "min(" + (key.what == tables::kind::uuid ? tables::key_of(context_, key, sql) : sql) + ")";
}

std::string maker::amounts(std::string const& amount, bool returned, std::string_view shape) const {
  std::vector<std::string> out;
  for (auto const& one : options_.sums) {
    auto const column = amount + (returned ? "a" + std::to_string(out.size()) : name(one.from));
    out.push_back(piece(shape, {{"column", column}}));
  }
  return out.empty() ? "0, 0, 0, 0" : base::listed(out);
}

std::string maker::returned() const {
  std::vector<std::string> out;
  for (auto const& one : options_.sums) {
    out.push_back(row(one.from) + " as a" + std::to_string(out.size()));
  }
  return out.empty() ? "1 as a0" : base::listed(out);
}

std::string maker::of_parent(state_value const& state) const {
  auto out = row(options_.source.link) + " = :parent and " + row(options_.source.state) + " = " +
             sql_of(context_, state);
  if (source_.led_by(std::vector{options_.source.link}) != nullptr) return out;
  // An index on what never changes of a row is better than none.
  for (auto const& one : options_.source.group) {
    if (!says_its_group(options_, parent_, one)) return out;
    auto const to = conversion_to(context_, source_, *source_.find(one));
    out += " and " + row(one) + " = " + to.before + "(select p." + name(one) + " from " +
           parent_.sql + " as p where p." + name(options_.parent.key) + " = :parent)" + to.after;
  }
  return out;
}

std::string maker::parent_values() const {
  std::vector<std::string> out{"p." + name(options_.parent.state)};
  out.push_back(options_.parent.count.empty() ? "null" : "p." + name(options_.parent.count));
  for (auto const& one : options_.sums) out.push_back("p." + name(one.into));
  return base::listed(out);
}

std::string maker::given_sums() const {
  std::vector<std::string> out{given_parent()};
  auto const add = [&](std::string const& as) {
    out.push_back(
        piece("given_integer", {{"name", as}, {"at", std::to_string(out.size())}, {"type", ""}}));
  };
  add("daybook_count");
  for (std::size_t i = 0; i < options_.sums.size(); ++i) add("daybook_sum" + std::to_string(i));
  return base::listed(out);
}

std::string maker::changes(how changes) const {
  std::vector<std::string> out;
  auto const set = [&](std::string const& column, std::string const& expression) {
    auto const to = name(column);
    switch (changes) {
      case how::add: out.push_back(to + " = p." + to + " + g." + expression); break;
      case how::replace: out.push_back(to + " = g." + expression); break;
      case how::clear: out.push_back(to + " = 0"); break;
    }
  };
  if (!options_.parent.count.empty()) set(options_.parent.count, "daybook_count");
  for (std::size_t i = 0; i < options_.sums.size(); ++i) {
    set(options_.sums[i].into, "daybook_sum" + std::to_string(i));
  }
  if (changes == how::clear) out.push_back(to_state(options_.parent.voided));
  // Something is always set: a row that is found and stays as it is need not be locked.
  if (out.empty()) out.push_back(to_state(options_.parent.open));
  return base::listed(out);
}

std::string maker::room_in(std::string const& column, std::string const& more) const {
  auto const& limits = *parent_.find(column);
  auto const sql = "p." + name(column);
  return piece("is_whole", {{"column", sql}}) + " and case when " + more + " >= 0 then " + sql +
         " <= " + number(limits.high) + " - " + more + " else " + sql +
         " >= " + number(limits.low) + " - " + more + " end";
}

std::string maker::room() const {
  std::vector<std::string> out{base::left_out("agg_state") ? "1 = 1"
                                                           : parent_is(options_.parent.open)};
  if (!options_.parent.count.empty())
    out.push_back(room_in(options_.parent.count, "g.daybook_count"));
  for (std::size_t i = 0; i < options_.sums.size(); ++i) {
    out.push_back(room_in(options_.sums[i].into, "g.daybook_sum" + std::to_string(i)));
  }
  return base::listed(out, " and ");
}

db::entry maker::make_parents() const {
  auto const& p = options_.parent;
  std::vector<std::string> columns{name(p.key), name(p.state)};
  std::vector<std::string> values{"daybook_row.daybook_key", sql_of(context_, p.open)};
  auto const put = [&](std::string const& column, std::string value) {
    columns.push_back(name(column));
    values.push_back(std::move(value));
  };
  if (!p.count.empty()) put(p.count, "0");
  for (auto const& one : options_.sums) put(one.into, "0");
  for (auto const& one : p.opening) put(one.column, "(" + one.expression + "\n)");
  std::vector<std::string> group;
  for (auto const& one : options_.source.group) {
    group.push_back(row(one) + " as " + name(one));
    auto const given = [&](auto const& other) { return other.column == one; };
    if (parent_.find(one) != nullptr && std::none_of(p.opening.begin(), p.opening.end(), given)) {
      put(one, "daybook_row." + name(one));
    }
  }
  auto const& key = *source_.find(options_.source.key);
  auto const given_columns = given_parent() + ", " +
                             piece("given_group", {{"name", "daybook_group"}, {"at", "1"}}) + ", " +
                             given(key, conversion_to(context_, source_, key), "daybook_first", 2);
  return make("make_parents", {{"given", given_columns},
                               {"columns", base::listed(columns)},
                               {"values", base::listed(values)},
                               {"group_columns", base::listed(group)}});
}

db::entry maker::follow() const {
  std::vector<std::string> out;
  for (auto const& one : options_.parent.following) {
    auto const sql = "(" + one.expression + "\n)";
    bool const whole = parent_.find(one.column)->what == tables::kind::integer;
    out.push_back(name(one.column) + " = " + (whole ? piece("whole", {{"expression", sql}}) : sql));
  }
  if (out.empty()) return {};
  return make("follow", {{"given", given_parent()}, {"following", base::listed(out)}});
}

statements maker::all() const {
  auto const& s = options_.source;
  auto const& p = options_.parent;
  auto const is = [&](state_value const& state) {
    return row(s.state) + " = " + sql_of(context_, state);
  };
  auto const values = of_values();
  auto const with = [](db::holes some, db::holes const& more) {
    some.insert(more.begin(), more.end());
    return some;
  };
  auto rows = row(s.key) + ", " + row(s.state);
  for (auto const& one : options_.sums) rows += ", " + row(one.from);
  db::holes const listed{{"of_parent", row(s.link) + " = :parent"}, {"row_values", rows}};
  auto const list = [&](std::string_view shape) { return make(shape, listed); };
  statements out;
  out.last_key = make("last_key");
  out.range_first = make("range_first");
  out.range_next = make("range_next");
  out.survey = make("survey");
  out.usual_survey = make("survey", {{"amounts", amounts("s.", false, "usual_amount")}});
  out.preview = make("preview");
  out.open = make("open", {{"lock", ""}});
  out.open_locked = make("open", {{"lock", piece("lock_rows", {})}});
  out.open_values = make("open_values", values);
  out.make_parents = make_parents();
  out.take = make("take");
  auto const& key = *source_.find(s.key);
  db::holes const held{
      {"given_key", given(key, conversion_to(context_, source_, key), "daybook_key", 0)}};
  out.hold_rows = make("hold_rows");
  out.survey_held = make("survey_held", held);
  out.take_held = make("take_held", held);
  out.take_waits = piece("take_waits", {}) == "true";
  out.landed = make("landed");
  out.add = set_parents(given_sums(), changes(how::add), room());
  out.replace = set_parents(given_sums(), changes(how::replace), parent_is(p.open));
  out.close = set_parents(given_parent(), to_state(p.closed), parent_is(p.open));
  out.settle = set_parents(given_parent(), to_state(p.settled), parent_is(p.closed));
  out.clear = set_parents(given_parent(), changes(how::clear),
                          "(" + parent_is(p.open) + " or " + parent_is(p.closed) + ")");
  out.follow = follow();
  out.parent = make("parent", with(values, {{"lock", ""}}));
  out.parent_locked = make("parent", with(values, {{"lock", piece("lock_rows", {})}}));
  out.parents_holes = with(common_, values);
  out.parents = make("parents", with(values, {{"condition", "1 = 1"}}));
  out.sum_rows = make("sum_rows");
  out.settle_rows =
      make("move_rows", {{"changes", name(s.state) + " = " + sql_of(context_, s.settled)},
                         {"is_done", is(s.settled)}});
  out.free_rows = make(
      "move_rows", {{"changes", free_again()}, {"is_done", is(s.free) + " and " + is_unlinked()}});
  out.not_settled =
      make("left_behind",
           {{"otherwise", "(" + row(s.state) + " is null or not " + is(s.settled) + ")"}});
  out.not_freed = make("left_behind", {{"otherwise", "1 = 1"}});
  out.link_of = make("link_of", {{"link_text", text(link(), row(s.link))},
                                 {"is_linked", is(s.taken) + " or " + is(s.settled)}});
  out.free_row = make("free_row", {{"changes", free_again()}, {"is_held", is(s.taken)}});
  out.rows_first = list("rows_first");
  out.rows_next = list("rows_next");
  verifying(out);
  return out;
}

void maker::verifying(statements& out) const {
  auto const& s = options_.source;
  auto const& p = options_.parent;
  auto const is = [&](state_value const& state) {
    return row(s.state) + " = " + sql_of(context_, state);
  };
  auto const bound = "(" + is(s.taken) + " or " + is(s.settled) + ")";
  std::vector<std::string> sums;
  std::vector<std::string> texts;
  std::vector<std::string> wrong;
  if (!p.count.empty()) {
    wrong.push_back(
        piece("differ", {{"one", "coalesce(r.n, 0)"}, {"other", "p." + name(p.count)}}));
  }
  for (auto const& one : options_.sums) {
    auto const as = "sum" + std::to_string(sums.size());
    sums.push_back(piece("row_sum", {{"column", row(one.from)}, {"name", as}}));
    texts.push_back(piece("sum_text", {{"name", as}}));
    wrong.push_back(piece("sum_differs", {{"column", "p." + name(one.into)}, {"name", as}}));
  }
  auto const live = "(" + parent_is(p.open) + " or " + parent_is(p.closed) + ")";
  wrong.push_back("coalesce(r.held, 0) <> case when " + live + " then coalesce(r.n, 0) else 0 end");
  wrong.push_back("(" + parent_is(p.voided) + " and r.n > 0)");
  wrong.push_back("(" + parent_is(p.open) + " and o.open_group is null)");
  wrong.push_back("(o.open_group is not null and not " + parent_is(p.open) + ")");
  wrong.push_back("not (" + live + " or " + parent_is(p.settled) + " or " + parent_is(p.voided) +
                  ")");
  auto const parent_text = text(parent_key(), "p." + name(p.key));
  auto const link_text = text(link(), row(s.link));
  auto const ours = "(o.parent_key is not null or r.k is not null or " + parent_is(p.open) + ")";
  out.verify_parents =
      make("verify_parents", {{"of_rows", bound},
                              {"held", is(s.taken)},
                              {"row_sums", sums.empty() ? "0 as sum0" : base::listed(sums)},
                              {"sum_texts", texts.empty() ? "'0'" : base::listed(texts)},
                              {"parent_text", parent_text},
                              {"link_as_key", like_parent(row(s.link))},
                              {"parent_values", parent_values()},
                              {"condition", ours + " and (" + base::listed(wrong, " or ") + ")"}});
  out.verify_gone = make("verify_gone", of_values());
  out.verify_counts = make("verify_counts", {{"of_rows", bound}});
  auto const rows = [&](std::string const& condition) {
    return make("verify_rows", {{"link_text", link_text}, {"condition", condition}});
  };
  auto const gone = "not exists (select 1 from " + parent_.sql + " as p where p." + name(p.key) +
                    " = " + like_parent(row(s.link)) + ")";
  out.wrong_group = rows(bound + " and o.group_key is not null and " +
                         piece("differ", {{"one", group()}, {"other", "o.group_key"}}));
  out.orphans = rows(bound + " and not " + linked_to_nothing() + " and " + gone);
  out.unlinked = rows("(" + bound + " and " + linked_to_nothing() + ") or (" + is(s.free) +
                      " and not " + linked_to_nothing() + ")");
  out.unknown_state = rows(row(s.state) + " is null or not (" + bound + " or " + is(s.free) + ")");
}

}  // namespace

std::string sql_of(core::context const& context, state_value const& state) {
  if (auto const* const value = std::get_if<std::int64_t>(&state)) return number(*value);
  return tables::literal(context.dialect, std::get<std::string>(state));
}

statements statements_of(core::context const& context, aggregation_options const& options,
                         tables::table const& source, tables::table const& parent) {
  return maker(context, options, source, parent).all();
}

db::entry parents_in(core::context const& context, aggregation_options const& options,
                     statements const& known, state_value const& state) {
  auto holes = known.parents_holes;
  holes["condition"] =
      "p." + tables::quoted(context.dialect, options.parent.state) + " = " + sql_of(context, state);
  return made(context, "parents", holes);
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
