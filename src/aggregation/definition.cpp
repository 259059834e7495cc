#include "aggregation/definition.hpp"

#include "base/limits.hpp"
#include "core/run/run.hpp"
#include "core/tx/transact.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace aggregations {

namespace {

using tables::column;
using tables::table;

constexpr std::int64_t made_key = 26;

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

/// Looks at one declaration.
class examiner {
 public:
  examiner(core::context const& context, definition& aggregation)
      : context_(context), definition_(aggregation) {}

  void examine() const {
    bounds();
    table_fits(definition_.source, "the source");
    table_fits(definition_.parent, "the parent");
    source();
    parent();
    sums();
    expressions();
  }

 private:
  [[noreturn]] void no(std::string const& reason) const { bad(definition_.name, reason); }
  [[nodiscard]] std::string on(table const& table, std::string_view role) const {
    return "aggregation " + quoted(definition_.name) + ": " + std::string(role) +
           (&table == &definition_.source ? " of the source" : " of the parent");
  }
  column const& need(table const& table, std::string const& name, std::string_view option) const {
    if (name.empty()) no(std::string(option) + " is not said");
    return tables::need(table, name, on(table, option));
  }

  void bounds() const {
    auto const& o = definition_.options;
    base::limits const limits("aggregation", definition_.name);
    limits.between("the chunk", o.chunk, 1, 1'000'000);
    if (o.source.group.empty()) no("it has no group: name a column, at least");
    limits.length("the prefix of its keys", o.key_prefix, 200);
  }

  void table_fits(table const& one, std::string const& role) const {
    auto const here = role + ", " + quoted(one.name) + ", ";
    if (one.what == tables::sort::view || one.what == tables::sort::other) {
      no(here + "is no table");
    }
    if (!one.transactional) {
      no(here + "is not kept by InnoDB: what is changed there cannot be undone");
    }
  }

  void key_fits(table const& table, std::string const& name) const {
    auto const& key = need(table, name, "the key");
    if (!tables::can_be_key(key)) {
      no("the key, column " + quoted(name) + " of " + quoted(table.name) + ", is of type " +
         key.type + ": it must be an integer, a text, a uuid or a date");
    }
    if (key.nullable)
      no("the key, column " + quoted(name) + " of " + quoted(table.name) + ", may be null");
    if (auto const unique = table.unique(std::vector{name}); !unique.holds) {
      no("the key, column " + quoted(name) + " of " + quoted(table.name) +
         ", is not unique: " + (unique.remedy.empty() ? "give it a unique index" : unique.remedy));
    }
  }

  void states(table const& table, std::string const& name,
              std::vector<state_value> const& values) const {
    auto const& state = need(table, name, "the state");
    std::set<state_value> different;
    for (auto const& one : values) {
      auto const* const number = std::get_if<std::int64_t>(&one);
      bool const integer = state.what == tables::kind::integer;
      if (integer != (number != nullptr)) {
        no("the state, column " + quoted(name) + " of " + quoted(table.name) + ", is of type " +
           state.type + ", and the states declared are " + (number ? "numbers" : "words"));
      }
      if (number != nullptr && (*number < state.low || *number > state.high)) {
        no("the state " + std::to_string(*number) + " is beyond what column " + quoted(name) +
           " of " + quoted(table.name) + " holds (" + state.type + ")");
      }
      if (!different.insert(one).second)
        no("two states of " + quoted(table.name) + " are the same");
    }
  }

  void source() const {
    auto const& s = definition_.options.source;
    key_fits(definition_.source, s.key);
    states(definition_.source, s.state, {s.free, s.taken, s.settled});
    auto const& link = need(definition_.source, s.link, "the link");
    if (link.what != tables::kind::integer && link.what != tables::kind::text) {
      no("the link, column " + quoted(s.link) + ", is of type " + link.type +
         ": it must be a text or an integer");
    }
    if (!s.unlinked && !link.nullable) {
      no("the link, column " + quoted(s.link) +
         ", cannot be null: say what stands in it while a "
         "row is free (unlinked)");
    }
    auto const digit = [](unsigned char c) { return c >= '0' && c <= '9'; };
    if (link.what == tables::kind::integer && s.unlinked &&
        (s.unlinked->empty() || s.unlinked->size() > 18 ||
         !std::all_of(s.unlinked->begin(), s.unlinked->end(), digit))) {
      no("the link, column " + quoted(s.link) +
         ", is an integer: say which number stands in it "
         "while a row is free (unlinked), or null");
    }
    std::set<std::string> different;
    for (auto const& one : s.group) {
      auto const& column = need(definition_.source, one, "the group");
      if (!tables::can_be_key(column)) {
        no("the group's column " + quoted(one) + " is of type " + column.type +
           ": it must be an integer, a text, a uuid or a date");
      }
      if (one == s.state || one == s.link) {
        no("the group's column " + quoted(one) + " is one that taking a row changes");
      }
      if (!different.insert(one).second) no("the group names " + quoted(one) + " twice");
    }
  }

  void parent() const {
    auto const& o = definition_.options;
    key_fits(definition_.parent, o.parent.key);
    auto const& key = *definition_.parent.find(o.parent.key);
    auto const& link = *definition_.source.find(o.source.link);
    if (key.what != tables::kind::integer && key.what != tables::kind::text) {
      no("the parent's key, column " + quoted(o.parent.key) + ", is of type " + key.type +
         ": it must be a text or an integer");
    }
    if (key.generated)
      no("the parent's key, column " + quoted(o.parent.key) +
         ", is made by the database: name one that takes a key");
    if (key.what != link.what) {
      no("the link, column " + quoted(o.source.link) + " (" + link.type +
         "), cannot hold the parent's key, column " + quoted(o.parent.key) + " (" + key.type + ")");
    }
    if (!o.key_of) made_keys_fit(key, link);
    states(definition_.parent, o.parent.state,
           {o.parent.open, o.parent.closed, o.parent.settled, o.parent.voided});
    if (!o.parent.count.empty()) whole(definition_.parent, o.parent.count, "the count");
    for (auto const* const list : {&o.parent.opening, &o.parent.following}) {
      for (auto const& one : *list) {
        auto const& column = need(definition_.parent, one.column, "a column that is set");
        if (column.generated) no("column " + quoted(one.column) + " is made by the database");
        if (one.expression.empty()) no("column " + quoted(one.column) + " has no expression");
      }
    }
  }

  void made_keys_fit(column const& key, column const& link) const {
    if (key.what == tables::kind::integer) {
      if (std::min(key.high, link.high) != std::numeric_limits<std::int64_t>::max()) {
        no("the keys made have 64 bits, and column " +
           quoted(key.high < link.high ? key.name : link.name) +
           " has fewer: make it a bigint, or the keys with key_of");
      }
      return;
    }
    auto const needed = made_key + static_cast<std::int64_t>(definition_.options.key_prefix.size());
    for (auto const* const one : {&key, &link}) {
      if (one->length.value_or(needed) < needed) {
        no("the keys made have " + std::to_string(needed) + " characters, and column " +
           quoted(one->name) + " has room for " + std::to_string(*one->length));
      }
    }
  }

  column const& whole(table const& table, std::string const& name, std::string_view role) const {
    auto const& out = need(table, name, role);
    if (out.what != tables::kind::integer) {
      no(std::string(role) + ", column " + quoted(name) + " of " + quoted(table.name) +
         ", is of type " + out.type + ": sums are exact for integers only");
    }
    return out;
  }

  void sums() const {
    std::set<std::string> different{definition_.options.parent.count};
    for (auto const& one : definition_.options.sums) {
      auto const& from = whole(definition_.source, one.from, "an amount");
      auto const& into = whole(definition_.parent, one.into, "a sum");
      if (into.high < from.high) {
        no("the sum, column " + quoted(one.into) + " (" + into.type +
           "), cannot hold one amount of column " + quoted(one.from) + " (" + from.type + ")");
      }
      if (!different.insert(one.into).second) no("column " + quoted(one.into) + " is set twice");
    }
  }

  /// Each statement with an expression in it is tried on no rows.
  void expressions() const {
    definition_.sql =
        statements_of(context_, definition_.options, definition_.source, definition_.parent);
    core::transact(context_, {.name = "declare"}, [&](db::session& session) {
      std::string_view const nothing = "[]";
      tried("the filter", [&] {
        db::run(session, definition_.sql.range_first, {nullptr, std::int64_t{0}});
      });
      tried("what is set when a parent is made",
            [&] { db::run(session, definition_.sql.make_parents, {nothing}); });
      tried("what follows from the sums", [&] {
        if (!definition_.sql.follow.parts.empty())
          db::run(session, definition_.sql.follow, {nothing});
      });
      auto const found = db::run(session, context_.sql["aggregation.triggers"],
                                 {definition_.source.schema, definition_.source.name});
      std::int64_t triggers = 0;
      decode(found.row(0)[0], triggers);
      definition_.triggers = triggers > 0;
      return core::decision::rollback;
    });
  }

  template <class F>
  void tried(char const* option, F const& check) const {
    try {
      check();
    } catch (error const& e) {
      if (e.kind() != error_code::statement && e.kind() != error_code::bad_argument) throw;
      no(std::string(option) + ": " + e.what());
    }
  }

  core::context const& context_;
  definition& definition_;
};

}  // namespace

std::string text_of(state_value const& state) {
  if (auto const* const number = std::get_if<std::int64_t>(&state)) return std::to_string(*number);
  return std::get<std::string>(state);
}

void bad(std::string_view aggregation, std::string const& reason) {
  throw error({.kind = error_code::bad_argument},
              "aggregation " + quoted(aggregation) + ": " + reason);
}

std::string structure_of(aggregation_options const& options) {
  auto const& s = options.source;
  auto const& p = options.parent;
  std::string out = "source " + s.table + "\nkey " + s.key + "\nstate " + s.state + " " +
                    text_of(s.free) + " " + text_of(s.taken) + " " + text_of(s.settled) +
                    "\nlink " + s.link + " " + (s.unlinked ? quoted(*s.unlinked) : "null") +
                    "\ngroup";
  for (auto const& one : s.group) out += " " + one;
  out += "\nparent " + p.table + "\nparent key " + p.key + "\nparent state " + p.state + " " +
         text_of(p.open) + " " + text_of(p.closed) + " " + text_of(p.settled) + " " +
         text_of(p.voided) + "\ncount " + p.count + "\nsums";
  for (auto const& one : options.sums) out += " " + one.from + " into " + one.into;
  return out;
}

definition checked(core::context const& context, std::string_view name,
                   aggregation_options const& options) {
  check_name("aggregation name", name);
  definition out;
  out.name = name;
  out.options = options;
  if (options.source.table.empty()) bad(name, "the source has no table");
  if (options.parent.table.empty()) bad(name, "the parent has no table");
  out.source = tables::look(context, options.source.table);
  out.parent = tables::look(context, options.parent.table);
  examiner(context, out).examine();
  out.number_keys = out.source.find(options.source.key)->what == tables::kind::integer;
  out.number_parents = out.parent.find(options.parent.key)->what == tables::kind::integer;
  return out;
}

}  // namespace aggregations
}  // namespace v1
}  // namespace daybook
