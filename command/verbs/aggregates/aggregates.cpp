// daybook aggregates list, show, parents, rows, parent, history: what is gathered, and what was
// done.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "verbs/aggregates/aggregate_verbs.hpp"
#include "wire/aggregates.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace command {

namespace {

using json = nlohmann::ordered_json;

constexpr auto no_such = "\nExit codes: 65 the declaration, 66 no such aggregation.";

std::string text_of(daybook::state_value const& state) {
  auto const* const number = std::get_if<std::int64_t>(&state);
  return number != nullptr ? std::to_string(*number) : std::get<std::string>(state);
}

json json_of(daybook::state_value const& state) {
  return std::visit([](auto const& one) { return json(one); }, state);
}

json json_of(std::vector<daybook::parent_column> const& all) {
  auto out = json::object();
  for (auto const& one : all) out[one.column] = one.expression;
  return out;
}

json json_of(declared_aggregate const& declared) {
  auto const& from = declared.options.source;
  auto const& into = declared.options.parent;
  json source{{"table", from.table},
              {"key", from.key},
              {"state", from.state},
              {"free", json_of(from.free)},
              {"taken", json_of(from.taken)},
              {"settled", json_of(from.settled)},
              {"link", from.link},
              {"unlinked", from.unlinked ? json(*from.unlinked) : json(nullptr)},
              {"group", from.group},
              {"filter", from.filter}};
  json parent{{"table", into.table},
              {"key", into.key},
              {"state", into.state},
              {"open", json_of(into.open)},
              {"closed", json_of(into.closed)},
              {"settled", json_of(into.settled)},
              {"void", json_of(into.voided)},
              {"count", into.count},
              {"opening", json_of(into.opening)},
              {"following", json_of(into.following)}};
  auto sums = json::object();
  for (auto const& one : declared.options.sums) sums[one.from] = one.into;
  return {{"name", declared.name},
          {"schedule", declared.cron ? json(declared.schedule()) : json(nullptr)},
          {"cron", declared.cron ? json(declared.cron->text()) : json(nullptr)},
          {"zone", declared.zone},
          {"source", source},
          {"parent", parent},
          {"sums", sums},
          {"allow_null", declared.options.allow_null},
          {"allow_negative", declared.options.allow_negative},
          {"chunk", declared.options.chunk},
          {"key_prefix", declared.options.key_prefix},
          {"fresh", declared.fresh},
          {"close", declared.close}};
}

/// What stands in a file may be anything.
void print_safe(std::string_view name, std::string_view value) {
  print_field(name, printable(value));
}

std::string list_of(std::vector<daybook::parent_column> const& all) {
  std::string out;
  for (auto const& one : all) {
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", one.column, one.expression);
  }
  return out.empty() ? "-" : out;
}

void print_text(declared_aggregate const& declared) {
  auto const& from = declared.options.source;
  auto const& into = declared.options.parent;
  print_safe("name", declared.name);
  print_safe("declared in", declared.place);
  print_safe("when", declared.cron ? fmt::format("{} ({}), schedule {}", declared.cron->text(),
                                                 declared.zone, declared.schedule())
                                   : std::string("when it is run by hand"));
  print_safe("source", fmt::format("{}, key {}, link {}", from.table, from.key, from.link));
  print_safe("its states",
             fmt::format("{}: free {}, taken {}, settled {}", from.state, text_of(from.free),
                         text_of(from.taken), text_of(from.settled)));
  print_safe("group", fmt::format("{}", fmt::join(from.group, ", ")));
  if (!from.filter.empty()) print_safe("filter", from.filter);
  print_safe("parent", fmt::format("{}, key {}", into.table, into.key));
  print_safe("its states", fmt::format("{}: open {}, closed {}, settled {}, void {}", into.state,
                                       text_of(into.open), text_of(into.closed),
                                       text_of(into.settled), text_of(into.voided)));
  print_safe("count", into.count.empty() ? "-" : into.count);
  for (auto const& one : declared.options.sums) {
    print_safe("sum", fmt::format("{} into {}", one.from, one.into));
  }
  print_safe("opening", list_of(into.opening));
  print_safe("following", list_of(into.following));
  print_safe("amounts", fmt::format("null {}, negative {}",
                                    declared.options.allow_null ? "counts as 0" : "is refused",
                                    declared.options.allow_negative ? "is allowed" : "is refused"));
  print_safe("a pass", fmt::format("{} rows a transaction{}{}", declared.options.chunk,
                                   declared.fresh ? ", new parents each time" : "",
                                   declared.close ? ", then all are closed" : ""));
}

std::vector<std::string> sum_columns(daybook::aggregation_options const& options) {
  std::vector<std::string> out;
  for (auto const& one : options.sums) out.push_back(printable(one.into));
  return out;
}

void print_text(std::vector<daybook::parent_info> const& all,
                daybook::aggregation_options const& options) {
  std::vector<std::string> head{"PARENT", "GROUP", "STATE", "COUNT"};
  for (auto& one : sum_columns(options)) head.push_back(std::move(one));
  head.emplace_back("OPENED");
  table rows(std::move(head));
  for (auto const& one : all) {
    std::vector<std::string> row{printable(one.key), printable(one.group), printable(one.state),
                                 one.count ? std::to_string(*one.count) : "-"};
    row.insert(row.end(), one.sums.begin(), one.sums.end());
    row.push_back(seconds_of(one.opened));
    rows.add(std::move(row));
  }
  rows.print();
}

}  // namespace

int aggregates_list(arguments const& given) {
  CLI::App app{"Lists aggregations by name: those of the file, and those that the book knows.",
               "daybook aggregates list"};
  aggregate_request request;
  bool as_json = false;
  add_json(app, as_json);
  add_file(app, request);
  parse(app, given);
  auto const file = read_settings(request.file);
  auto const book = open_book(resolve(request.where, file.database));
  auto const known = book.aggregations();
  std::set<std::string> names(known.begin(), known.end());
  for (auto const& one : file.aggregates) names.insert(one.name);
  table rows({"NAME", "SOURCE", "PARENT", "WHEN", "DECLARED IN"});
  for (auto const& name : names) {
    auto const of = std::find_if(file.aggregates.begin(), file.aggregates.end(),
                                 [&](auto const& one) { return one.name == name; });
    bool const here = of != file.aggregates.end();
    if (as_json) {
      print_json({{"name", name},
                  {"declared", here},
                  {"source", here ? json(of->options.source.table) : json(nullptr)},
                  {"parent", here ? json(of->options.parent.table) : json(nullptr)},
                  {"cron", here && of->cron ? json(of->cron->text()) : json(nullptr)}});
    } else if (here) {
      rows.add({printable(name), printable(of->options.source.table),
                printable(of->options.parent.table),
                of->cron ? printable(of->cron->text()) : "by hand", of->place});
    } else {
      rows.add({printable(name), "-", "-", "-", "another file, or a program"});
    }
  }
  if (!as_json) rows.print();
  return exit_code::done;
}

int aggregates_show(arguments const& given) {
  CLI::App app{"Shows how an aggregation is declared, and which indexes would serve it.",
               "daybook aggregates show"};
  app.footer(no_such);
  aggregate_request request;
  bool as_json = false;
  add_json(app, as_json);
  add_aggregate(app, request);
  parse(app, given, "NAME [options]");
  auto const of = open_aggregate(request);
  auto const advice = of.made.advice();
  if (as_json) {
    auto out = json_of(of.declared);
    out["advice"] = advice;
    print_json(out);
  } else {
    print_text(of.declared);
    for (auto const& one : advice) print_safe("would serve", one);
  }
  return exit_code::done;
}

int aggregates_parents(arguments const& given) {
  CLI::App app{"Lists the parents of an aggregation by key.", "daybook aggregates parents"};
  app.footer(no_such);
  aggregate_request request;
  daybook::parents_query query;
  std::string state;
  bool as_json = false;
  app.add_option("--state", state, "Only these: open, closed, settled or void")
      ->type_name("STATE")
      ->check(CLI::IsMember({"open", "closed", "settled", "void"}));
  add_page(app, query.after, query.limit, "PARENT");
  add_json(app, as_json);
  add_aggregate(app, request);
  parse(app, given, "NAME [options]");
  auto const of = open_aggregate(request);
  if (!state.empty()) query.state = state_named(state, of.declared.options.parent);
  auto const found = of.made.parents(query);
  if (as_json) {
    for (auto const& one : found) print_json(command::json_of(one, of.declared.options));
  } else {
    print_text(found, of.declared.options);
  }
  return exit_code::done;
}

int aggregates_rows(arguments const& given) {
  CLI::App app{"Lists the rows of a parent by key.", "daybook aggregates rows"};
  app.footer("\nExit codes: 65 the declaration, 66 no such aggregation or parent.");
  aggregate_request request;
  std::string parent;
  std::string after;
  int limit = 1000;
  bool as_json = false;
  add_page(app, after, limit, "ROW");
  add_json(app, as_json);
  add_aggregate(app, request);
  app.add_option("PARENT", parent, "Its key")->required();
  parse(app, given, "NAME PARENT [options]");
  auto const of = open_aggregate(request);
  auto const found = of.made.rows(parent, after, limit);
  if (found.empty() && !of.made.find(parent)) {
    throw complaint(exit_code::missing,
                    fmt::format("{0}: no such parent: {1}; see daybook aggregates parents {0}",
                                printable(request.name), printable(parent)));
  }
  std::vector<std::string> head{"ROW", "STATE"};
  for (auto const& one : of.declared.options.sums) head.push_back(printable(one.from));
  table rows(std::move(head));
  for (auto const& one : found) {
    if (as_json) {
      print_json(command::json_of(one, of.declared.options));
      continue;
    }
    std::vector<std::string> row{printable(one.key), printable(one.state)};
    for (auto const& amount : one.amounts) row.push_back(amount.value_or("null"));
    rows.add(std::move(row));
  }
  if (!as_json) rows.print();
  return exit_code::done;
}

int aggregates_parent(arguments const& given) {
  CLI::App app{"Prints the key of the parent that has a row.", "daybook aggregates parent"};
  app.footer(
      "\nExit codes: 65 the declaration, 66 no such aggregation, or no parent has such a row.");
  aggregate_request request;
  std::string row;
  bool as_json = false;
  app.add_flag("--json", as_json, "The parent as one object");
  add_aggregate(app, request);
  app.add_option("ROW", row, "The row's key")->required();
  parse(app, given, "NAME ROW [options]");
  auto const of = open_aggregate(request);
  auto const key = of.made.parent_of(row);
  if (!key) {
    throw complaint(exit_code::missing,
                    fmt::format("{}: no parent has a row {}: it is free, or there is none",
                                printable(request.name), printable(row)));
  }
  if (!as_json) {
    print(printable(*key) + "\n");
    return exit_code::done;
  }
  auto const found = of.made.find(*key);
  print_json(found ? command::json_of(*found, of.declared.options) : json{{"parent", *key}});
  return exit_code::done;
}

int aggregates_history(arguments const& given) {
  CLI::App app{"Lists what was done, the newest first: of one parent, or of all.",
               "daybook aggregates history"};
  app.footer(no_such);
  aggregate_request request;
  std::string parent;
  int limit = 100;
  std::int64_t before = 0;
  bool as_json = false;
  add_limit(app, limit);
  app.add_option("--before", before, "Only those before this id: the next page")->type_name("ID");
  add_json(app, as_json);
  add_aggregate(app, request);
  app.add_option("PARENT", parent, "Only of this one");
  parse(app, given, "NAME [PARENT] [options]");
  auto const of = open_aggregate(request);
  table rows({"ID", "AT", "WHAT", "PARENT", "ROWS", "WHO", "DETAIL", "WHY"});
  for (auto const& one : of.made.history(parent, limit, before)) {
    if (as_json) {
      print_json(command::json_of(one));
    } else {
      rows.add({std::to_string(one.id), seconds_of(one.at), std::string(daybook::word_of(one.what)),
                printable(one.parent), std::to_string(one.rows), printable(one.actor),
                printable(one.detail), printable(one.reason)});
    }
  }
  if (!as_json) rows.print();
  return exit_code::done;
}

}  // namespace command
