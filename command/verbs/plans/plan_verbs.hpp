// What the verbs of `daybook plans` have in common: a name, the file that may declare it, and the
// database that it is looked up in.
// Thread safety: the main thread.
#pragma once

#include "cli/operator_input.hpp"
#include "config/declared_plan.hpp"
#include "config/declared_queue.hpp"
#include "config/options.hpp"
#include "config/settings.hpp"

#include <daybook/book.hpp>
#include <daybook/planner.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace command {

struct plan_request {
  std::string name;
  std::string file = usual_settings;
  operator_input by;
  database_options where;
};

/// NAME, --config and the database.
void add_plan(CLI::App& app, plan_request& request);

/// A planner, and the book that it is in.
struct opened_plan {
  daybook::book book;
  daybook::planner plan;
};

/// As the file declares it, with the queues that it needs; where that does not name it, as it is in
/// the book. On failure: complaint (65: the file, or what the database finds wrong; 66: it is in
/// neither), or daybook::error.
[[nodiscard]] opened_plan open_plan(plan_request const& request);
/// As it is in the book. On failure: complaint (66), or daybook::error.
[[nodiscard]] opened_plan find_plan(plan_request const& request);

/// Makes or changes, of the queues of a file, those that the plan needs: its own, and the one that
/// an inbox takes from.
void make_queues_of(declared_plan const& declared, std::vector<declared_queue> const& queues,
                    daybook::book& book);
/// On failure: complaint (65) with the place in the file, else daybook::error.
[[nodiscard]] daybook::planner make(daybook::book& book, declared_plan const& declared);

/// "3 launched, 1 refused, 0 there already"
[[nodiscard]] std::string text_of(daybook::pass_report const& sum);

}  // namespace command
