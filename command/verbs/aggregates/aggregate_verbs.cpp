#include "verbs/aggregates/aggregate_verbs.hpp"

#include "cli/exit.hpp"
#include "cli/format.hpp"

#include <daybook/names.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace command {

namespace {

declared_aggregate must_declare(settings const& file, aggregate_request const& request) {
  daybook::check_name("name of an aggregation", request.name);
  auto const found = std::find_if(file.aggregates.begin(), file.aggregates.end(),
                                  [&](auto const& one) { return one.name == request.name; });
  if (found != file.aggregates.end()) return *found;
  std::vector<std::string> names;
  for (auto const& one : file.aggregates) names.push_back(one.name);
  auto const there = there_are(std::move(names), request.name);
  throw complaint(exit_code::missing, fmt::format("no [[aggregate]] is named {} in {}; {}",
                                                  printable(request.name), printable(request.file),
                                                  there.empty() ? "there is none in it" : there));
}

std::string counted(std::int64_t count, std::string_view unit) {
  return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
}

}  // namespace

void add_file(CLI::App& app, aggregate_request& request) {
  app.add_option("--config", request.file, "The file that declares it (daybook.toml)")
      ->type_name("FILE");
  add_database_options(app, request.where);
}

void add_aggregate(CLI::App& app, aggregate_request& request) {
  app.add_option("NAME", request.name, "The aggregation")->required();
  add_file(app, request);
}

opened_aggregate open_aggregate(aggregate_request const& request) {
  auto const file = read_settings(request.file);
  auto declared = must_declare(file, request);
  auto book = open_book(resolve(request.where, file.database));
  auto made = make(book, declared);
  return {std::move(declared), std::move(book), std::move(made)};
}

daybook::aggregation make(daybook::book& book, declared_aggregate const& declared) {
  try {
    return book.make_aggregation(declared.name, declared.options);
  } catch (daybook::error const& e) {
    if (e.kind() != daybook::error_code::bad_argument &&
        e.kind() != daybook::error_code::configuration) {
      throw;
    }
    throw complaint(code_of(e.kind()), fmt::format("{}: {}", declared.place, printable(e.what())));
  }
}

std::string text_of(std::string_view name, daybook::refused_rows const& one) {
  return printable(
      fmt::format("{}: group {}, row {}: not taken: {}", name, one.group, one.row, one.why));
}

std::string text_of(daybook::aggregate_report const& done) {
  return fmt::format("{}, {} made, {}", counted(done.rows, "row"), counted(done.parents, "parent"),
                     counted(done.chunks, "transaction"));
}

}  // namespace command
