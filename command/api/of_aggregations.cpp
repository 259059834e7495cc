// Aggregations: how each is declared is in the file of the server; what is in them is in tables of
// the application's.
#include "api/handlers.hpp"
#include "cli/format.hpp"
#include "cli/numbers.hpp"
#include "wire/aggregates.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace command::api {

namespace {

using json = nlohmann::ordered_json;
using daybook::settling;

json json_named(call const& asked, std::string const& name) {
  auto const& all = asked.in.file().aggregates;
  auto const found = std::find_if(all.begin(), all.end(),
                                  [&](declared_aggregate const& one) { return one.name == name; });
  bool const here = found != all.end();
  return {{"name", name},
          {"declared", here},
          {"source", here ? json(found->options.source.table) : json(nullptr)},
          {"parent", here ? json(found->options.parent.table) : json(nullptr)},
          {"cron", here && found->cron ? json(found->cron->text()) : json(nullptr)}};
}

std::set<std::string> names_of(call const& asked) {
  auto const known = asked.book().aggregations();
  std::set<std::string> out(known.begin(), known.end());
  for (auto const& one : asked.in.file().aggregates) out.insert(one.name);
  return out;
}

/// The values of a group by their columns; where they cannot be told apart, by all of them
/// together.
json json_of_group(std::string const& group, std::vector<std::string> const& columns) {
  json out = json::object();
  std::vector<std::string> values;
  for (std::size_t at = 0;;) {
    auto const end = group.find(", ", at);
    values.push_back(group.substr(at, end == std::string::npos ? end : end - at));
    if (end == std::string::npos) break;
    at = end + 2;
  }
  if (columns.size() == 1) values = {group};
  if (values.size() == columns.size()) {
    for (std::size_t i = 0; i < columns.size(); ++i) out[columns[i]] = values[i];
    return out;
  }
  std::string all;
  for (auto const& one : columns) all += (all.empty() ? "" : ", ") + one;
  out[all] = group;
  return out;
}

/// The word for the value of a state column.
std::string_view word_of_state(std::string const& value, daybook::aggregation_parent const& of) {
  auto const is = [&](daybook::state_value const& one) {
    auto const* const number = std::get_if<std::int64_t>(&one);
    return value == (number != nullptr ? std::to_string(*number) : std::get<std::string>(one));
  };
  if (is(of.open)) return "open";
  if (is(of.closed)) return "closed";
  if (is(of.settled)) return "settled";
  return is(of.voided) ? std::string_view("void") : std::string_view(value);
}

using verb_of_one = settling (daybook::aggregation::*)(std::string_view,
                                                       daybook::audit_note const&);

reply settle_one(call& asked, verb_of_one verb, std::string const& did) {
  auto const parent = asked.field("parent");
  if (parent.empty()) throw refusal(400, "bad-argument", "Say the key of the parent.");
  auto made = asked.in.aggregation(asked.name("aggregation")).made;
  switch ((made.*verb)(parent, asked.note())) {
    case settling::done: return told("It is " + did + ".");
    case settling::before: return told("It was " + did + " before.");
    case settling::none: missing("There is no parent " + parent + ".");
    case settling::open: not_in_that_state("It is open: close it first.");
    case settling::closed: not_in_that_state("It is closed.");
    case settling::settled: not_in_that_state("It is settled, which stays.");
    case settling::voided: not_in_that_state("It is void, for it was reverted.");
    case settling::differs: break;
  }
  not_in_that_state("Its rows are not what it says: verify.");
}

}  // namespace

reply get_aggregations(call& asked) {
  auto items = json::array();
  for (auto const& name : names_of(asked)) items.push_back(json_named(asked, name));
  return list_of(std::move(items));
}

reply get_aggregation(call& asked) {
  auto const& name = asked.name("aggregation");
  if (!names_of(asked).contains(name)) missing("There is no aggregation " + name + ".");
  auto out = json_named(asked, name);
  if (out["declared"].get<bool>()) out["advice"] = asked.in.aggregation(name).made.advice();
  return {.body = std::move(out)};
}

reply get_parents(call& asked) {
  auto const one = asked.in.aggregation(asked.name("aggregation"));
  auto const& options = one.declared.options;
  daybook::parents_query query{.after = asked.after(), .limit = asked.number("limit", 100)};
  if (auto const state = asked.text("state"); !state.empty()) {
    query.state = state_named(state, options.parent);
  }
  auto const found = one.made.parents(query);
  auto items = json::array();
  for (auto const& parent : found) {
    auto row = json_of(parent, options);
    row["group"] = json_of_group(parent.group, options.source.group);
    row["state"] = word_of_state(parent.state, options.parent);
    items.push_back(std::move(row));
  }
  bool const is_full = std::cmp_equal(found.size(), query.limit);
  return list_of(std::move(items), next_after(is_full, is_full ? found.back().key : ""));
}

reply get_rows(call& asked) {
  auto const one = asked.in.aggregation(asked.name("aggregation"));
  auto const& parent = asked.name("parent");
  auto const limit = asked.number("limit", 100);
  auto const found = one.made.rows(parent, asked.after(), limit);
  if (found.empty() && !one.made.find(parent)) missing("There is no parent " + parent + ".");
  auto items = json::array();
  for (auto const& row : found) items.push_back(json_of(row, one.declared.options));
  bool const is_full = std::cmp_equal(found.size(), limit);
  return list_of(std::move(items), next_after(is_full, is_full ? found.back().key : ""));
}

reply get_history(call& asked) {
  auto const one = asked.in.aggregation(asked.name("aggregation"));
  auto const limit = asked.number("limit", 100);
  auto const after = asked.after();
  auto const found = one.made.history(asked.text("parent"), limit,
                                      after.empty() ? 0 : whole_number(after).value_or(0));
  auto items = json::array();
  for (auto const& event : found) items.push_back(json_of(event));
  bool const is_full = std::cmp_equal(found.size(), limit);
  return list_of(std::move(items),
                 next_after(is_full, is_full ? std::to_string(found.back().id) : ""));
}

reply verify_aggregation(call& asked) {
  auto const found = asked.in.aggregation(asked.name("aggregation")).made.verify();
  auto differences = json::array();
  for (auto const& one : found.differences) differences.push_back(json_of(one));
  auto const count = std::to_string(found.differences.size()) + (found.complete ? "" : " and more");
  return {.body = {{"text", std::to_string(found.parents) + " parents, " +
                                std::to_string(found.rows) + " rows: " + count + " differences."},
                   {"parents", found.parents},
                   {"rows", found.rows},
                   {"complete", found.complete},
                   {"differences", std::move(differences)}}};
}

reply close_parent(call& asked) {
  return settle_one(asked, &daybook::aggregation::close, "closed");
}

reply settle_parent(call& asked) {
  return settle_one(asked, &daybook::aggregation::settle, "settled");
}

reply revert_parent(call& asked) {
  return settle_one(asked, &daybook::aggregation::revert, "reverted");
}

}  // namespace command::api
