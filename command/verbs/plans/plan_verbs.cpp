#include "verbs/plans/plan_verbs.hpp"

#include "cli/exit.hpp"
#include "cli/format.hpp"

#include <daybook/names.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace command {

namespace {

std::vector<declared_plan>::const_iterator plan_in(settings const& file, std::string const& name) {
  return std::find_if(file.plans.begin(), file.plans.end(),
                      [&](auto const& one) { return one.name == name; });
}

daybook::planner must_have(daybook::book const& book, std::string const& name,
                           settings const& file) {
  auto const declared = plan_in(file, name);
  auto found =
      declared == file.plans.end() ? book.planner(name) : book.planner(name, declared->options);
  if (found) return *std::move(found);
  auto const there = there_are(book.planners(), name);
  throw complaint(exit_code::missing,
                  fmt::format("no plan is named {}; {}", printable(name),
                              there.empty() ? "there is none in this book" : there));
}

}  // namespace

void add_plan(CLI::App& app, plan_request& request) {
  app.add_option("NAME", request.name, "The plan")->required();
  app.add_option("--config", request.file, "The file that may declare it (daybook.toml)")
      ->type_name("FILE");
  add_database_options(app, request.where);
}

opened_plan find_plan(plan_request const& request) {
  daybook::check_name("name of a plan", request.name);
  auto const file = read_settings(request.file);
  auto book = open_book(resolve(request.where, file.database));
  auto plan = must_have(book, request.name, file);
  return {std::move(book), std::move(plan)};
}

opened_plan open_plan(plan_request const& request) {
  daybook::check_name("name of a plan", request.name);
  auto const file = read_settings(request.file);
  auto book = open_book(resolve(request.where, file.database));
  auto const declared = plan_in(file, request.name);
  if (declared == file.plans.end()) {
    auto plan = must_have(book, request.name, file);
    return {std::move(book), std::move(plan)};
  }
  make_queues_of(*declared, file.queues, book);
  auto plan = make(book, *declared);
  return {std::move(book), std::move(plan)};
}

void make_queues_of(declared_plan const& declared, std::vector<declared_queue> const& queues,
                    daybook::book& book) {
  auto const* const inbox = std::get_if<daybook::inbox_strategy>(&declared.options.strategy);
  for (auto const& queue : queues) {
    bool const wanted =
        queue.name == declared.options.queue || (inbox != nullptr && queue.name == inbox->from);
    if (wanted) book.make_queue(queue.name, queue.options);
  }
}

daybook::planner make(daybook::book& book, declared_plan const& declared) {
  try {
    return book.make_planner(declared.name, declared.options);
  } catch (daybook::error const& e) {
    if (e.kind() != daybook::error_code::bad_argument) throw;
    throw complaint(exit_code::bad_data,
                    fmt::format("{}: {}", declared.place, printable(e.what())));
  }
}

std::string text_of(daybook::pass_report const& sum) {
  return fmt::format("{} launched, {} refused, {} there already{}", sum.launched, sum.refused,
                     sum.present, sum.complete ? "" : ", more are left");
}

}  // namespace command
