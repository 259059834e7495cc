// daybook aggregates run, verify: what takes rows, and what compares parents with them.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/progress_bar.hpp"
#include "cli/verbs.hpp"
#include "verbs/aggregates/aggregate_verbs.hpp"
#include "wire/aggregates.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace command {

namespace {

using json = nlohmann::ordered_json;

struct run_request {
  aggregate_request of;
  bool dry = false;
  bool fresh = false;
  bool close = false;
  bool as_json = false;
  int limit = 1000;
};

json json_of(std::vector<daybook::refused_rows> const& all) {
  auto out = json::array();
  for (auto const& one : all) {
    out.push_back({{"group", one.group}, {"row", one.row}, {"why", one.why}});
  }
  return out;
}

std::string parent_of(daybook::group_preview const& one, bool fresh) {
  if (!one.refused.empty()) return "-";
  return one.parent && !fresh ? *one.parent : "a new one";
}

int preview(run_request const& request, opened_aggregate const& aggregate) {
  bool const fresh = request.fresh || aggregate.declared.fresh;
  std::vector<std::string> head{"GROUP", "ROWS"};
  for (auto const& one : aggregate.declared.options.sums) head.push_back(printable(one.into));
  head.insert(head.end(), {"PARENT", "NOT TAKEN"});
  table rows(std::move(head));
  std::int64_t count = 0;
  bool refused = false;
  auto const found = aggregate.made.preview(request.limit);
  for (auto const& one : found) {
    refused = refused || !one.refused.empty();
    if (one.refused.empty()) count += one.rows;
    auto const parent = one.refused.empty() && !fresh && one.parent ? json(*one.parent) : json();
    if (request.as_json) {
      print_json({{"group", one.group},
                  {"rows", one.rows},
                  {"sums", json_of_sums(aggregate.declared.options, one.sums)},
                  {"parent", parent},
                  {"refused", one.refused}});
      continue;
    }
    std::vector<std::string> row{printable(one.group), std::to_string(one.rows)};
    row.insert(row.end(), one.sums.begin(), one.sums.end());
    row.push_back(printable(parent_of(one, fresh)));
    row.push_back(printable(one.refused));
    rows.add(std::move(row));
  }
  if (!request.as_json) rows.print();
  bool const more = found.size() == static_cast<std::size_t>(request.limit);
  say(fmt::format("{}: nothing was written; {} rows in {} groups{} would be taken",
                  printable(aggregate.declared.name), count, found.size(),
                  more ? ", and perhaps others (--limit)," : ""));
  return refused ? exit_code::differs : exit_code::done;
}

int run_now(run_request const& request, opened_aggregate& aggregate) {
  auto const by = request.of.by.remark();
  progress_bar bar(printable(aggregate.declared.name));
  daybook::aggregate_options options;
  options.new_parent = request.fresh || aggregate.declared.fresh;
  options.actor = by.actor;
  options.on_progress = [&bar](daybook::aggregate_report const& so_far) { bar.at(so_far.rows); };
  auto const done = aggregate.made.aggregate(options);
  bar.wipe();
  for (auto const& one : done.refused) say(text_of(aggregate.declared.name, one));
  std::int64_t closed = 0;
  bool const close = request.close || aggregate.declared.close;
  if (close) closed = aggregate.made.close_all(by);
  if (request.as_json) {
    print_json({{"rows", done.rows},
                {"parents", done.parents},
                {"chunks", done.chunks},
                {"closed", closed},
                {"refused", json_of(done.refused)}});
  }
  say(fmt::format("{}: {}{}; {}", printable(aggregate.declared.name), text_of(done),
                  close ? fmt::format(", {} closed", closed) : "", bar.pace(done.rows)));
  return done.refused.empty() ? exit_code::done : exit_code::differs;
}

}  // namespace

int aggregates_run(arguments const& given) {
  CLI::App app{"Takes every row that is free: a chunk after the other, each in one transaction.",
               "daybook aggregates run"};
  app.footer(
      "\nAny number of these, and daemons, may run at once: each row is taken by one. Cut short, "
      "it\n"
      "is simply run again.\n"
      "\nExit codes: 0 done, 1 rows of a group could not be taken (the others were), 65 the\n"
      "declaration, 66 no such aggregation.");
  run_request request;
  app.add_flag("--dry-run", request.dry, "Only print the groups with their counts and sums");
  app.add_option("--limit", request.limit, "With --dry-run: at most so many groups (1000)")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  app.add_flag("--fresh", request.fresh,
               "Add to no parent that is there: close it, make a new one");
  app.add_flag("--close", request.close, "Then close every parent that is open");
  app.add_flag("--json", request.as_json,
               "What was done as one object; of a dry run one per group");
  add_reason(app, request.of.by);
  add_aggregate(app, request.of);
  parse(app, given, "NAME [options]");
  auto of = open_aggregate(request.of);
  return request.dry ? preview(request, of) : run_now(request, of);
}

int aggregates_verify(arguments const& given) {
  CLI::App app{"Compares every parent with its rows, in one snapshot, and prints each difference.",
               "daybook aggregates verify"};
  app.footer(
      "\nIt may run beside everything else.\n"
      "\nExit codes: 0 no difference, 1 differences, 65 the declaration, 66 no such aggregation.");
  aggregate_request request;
  int limit = 1000;
  bool as_json = false;
  add_limit(app, limit, "differences", 1'000'000);
  app.add_flag("--json", as_json, "One object per difference");
  add_aggregate(app, request);
  parse(app, given, "NAME [options]");
  auto const of = open_aggregate(request);
  auto const found = of.made.verify(limit);
  table rows({"WHAT", "PARENT", "GROUP", "COLUMN", "EXPECTED", "FOUND", "ROW"});
  for (auto const& one : found.differences) {
    if (as_json) {
      print_json(command::json_of(one));
    } else {
      rows.add({std::string(daybook::word_of(one.what)), printable(one.parent),
                printable(one.group), printable(one.column), printable(one.expected),
                printable(one.found), printable(one.row)});
    }
  }
  if (!as_json && !found.differences.empty()) rows.print();
  say(fmt::format("{}: {} parents, {} rows: {} differences{}", printable(request.name),
                  found.parents, found.rows, found.differences.size(),
                  found.complete ? "" : ", and more"));
  return found.differences.empty() ? exit_code::done : exit_code::differs;
}

}  // namespace command
