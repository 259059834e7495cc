// What the verbs of `daybook intakes` have in common: a name, and the database that it is looked up
// in.
// Thread safety: the main thread.
#pragma once

#include "cli/operator_input.hpp"
#include "config/options.hpp"

#include <daybook/book.hpp>
#include <daybook/intake.hpp>

#include <string>

namespace command {

struct intake_request {
  std::string name;
  operator_input input;
  database_options where;
};

/// NAME and the database.
void add_intake(CLI::App& app, intake_request& request);

/// An intake, and the book that it is in.
struct opened_intake {
  daybook::book book;
  daybook::intake intake;
};

/// On failure: complaint (66: there is no such intake), or daybook::error.
[[nodiscard]] opened_intake find_intake(intake_request const& request);

}  // namespace command
