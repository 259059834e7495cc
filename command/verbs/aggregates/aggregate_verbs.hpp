// What the verbs of `daybook aggregates` have in common: a name, the file that declares it, and the
// database that it is looked up in.
// Thread safety: the main thread.
#pragma once

#include "cli/operator_input.hpp"
#include "config/declared_aggregate.hpp"
#include "config/options.hpp"
#include "config/settings.hpp"

#include <daybook/book.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace command {

struct aggregate_request {
  std::string name;
  std::string file = usual_settings;
  operator_input by;
  database_options where;
};

void add_file(CLI::App& app, aggregate_request& request);
/// NAME, --config and the database.
void add_aggregate(CLI::App& app, aggregate_request& request);

/// An aggregation as its file declares it. Lifetime: of the book in it.
struct opened_aggregate {
  declared_aggregate declared;
  daybook::book book;
  daybook::aggregation made;
};

/// On failure: complaint (65: the file, or what the database finds wrong in it, with the place; 66:
/// it declares no such aggregation), or daybook::error.
[[nodiscard]] opened_aggregate open_aggregate(aggregate_request const& request);

/// On failure: complaint (65) with the place, where the tables are not as declared; else
/// daybook::error.
[[nodiscard]] daybook::aggregation make(daybook::book& book, declared_aggregate const& declared);

/// "pay: group 101, row 17: move_num is null"
[[nodiscard]] std::string text_of(std::string_view name, daybook::refused_rows const& one);
/// "12 rows, 3 parents made, 1 transaction"
[[nodiscard]] std::string text_of(daybook::aggregate_report const& done);

}  // namespace command
