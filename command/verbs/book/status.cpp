// daybook status: the book at a glance.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace command {

namespace {

/// Of all queues together.
struct tasks {
  std::size_t queues = 0;
  std::int64_t due = 0;
  std::int64_t running = 0;
  std::int64_t dead = 0;
  std::int64_t unknown = 0;
};

tasks tasks_of(daybook::book const& book) {
  tasks sum;
  for (auto const& name : book.queues()) {
    auto const one = book.queue(name);
    if (!one) continue;  // it was removed meanwhile
    auto const counts = one->counts();
    ++sum.queues;
    sum.due += counts.due;
    sum.running += counts.running;
    sum.dead += counts.dead;
    sum.unknown += counts.unknown;
  }
  return sum;
}

struct plans {
  std::size_t all = 0;
  std::int64_t failing = 0;
};

plans plans_of(daybook::book const& book) {
  plans sum;
  for (auto const& name : book.planners()) {
    auto const one = book.planner(name);
    if (!one) continue;
    ++sum.all;
    if (!one->info().error.empty()) ++sum.failing;
  }
  return sum;
}

}  // namespace

int status(arguments const& given) {
  CLI::App app{
      "The book at a glance: what is in hand, what failed, what waits for a person. Runs, with "
      "the\n"
      "ticks of schedules; then tasks of all queues, and plans.",
      "daybook status"};
  database_options where;
  bool as_json = false;
  app.add_flag("--json", as_json, "One object, on one line");
  add_database_options(app, where);
  parse(app, given);
  auto const book = open_book(resolve(where));
  auto const now = book.status();
  auto const of_queues = tasks_of(book);
  auto const of_plans = plans_of(book);
  if (as_json) {
    print_json({{"now", iso(now.now)},
                {"holders_alive", now.holders_alive},
                {"runs_in_hand", now.runs_in_hand},
                {"runs_abandoned", now.runs_abandoned},
                {"runs_overdue", now.runs_overdue},
                {"runs_succeeded", now.runs_succeeded},
                {"runs_failed", now.runs_failed},
                {"runs_interrupted", now.runs_interrupted},
                {"runs_unknown", now.runs_unknown},
                {"queues", of_queues.queues},
                {"tasks_due", of_queues.due},
                {"tasks_running", of_queues.running},
                {"tasks_dead", of_queues.dead},
                {"tasks_unknown", of_queues.unknown},
                {"plans", of_plans.all},
                {"plans_failing", of_plans.failing}});
    return exit_code::done;
  }
  auto const line = [](std::string_view name, std::int64_t count, std::string_view note = {}) {
    print(fmt::format("{:<14}{:>8}{}{}\n", name, count, note.empty() || count == 0 ? "" : "  ",
                      count == 0 ? "" : note));
  };
  print(fmt::format("{}, {} by its clock\n\n", printable(book.url()), seconds_of(now.now)));
  line("processes", now.holders_alive, "alive");
  line("in hand", now.runs_in_hand);
  line("abandoned", now.runs_abandoned, "their process is dead: the next start takes them over");
  line("overdue", now.runs_overdue, "their deadline passed: the next start takes them over");
  line("interrupted", now.runs_interrupted, "the next start resumes them");
  line("failed", now.runs_failed, "daybook runs list --state failed");
  line("unknown", now.runs_unknown, "a person decides: daybook runs list --state unknown");
  line("succeeded", now.runs_succeeded);
  if (of_queues.queues > 0) {
    print("\n");
    line("tasks due", of_queues.due);
    line("running", of_queues.running);
    line("dead", of_queues.dead, "a person decides: daybook tasks list QUEUE --state dead");
    line("unknown", of_queues.unknown,
         "a person decides: daybook tasks list QUEUE --state unknown");
  }
  if (of_plans.all > 0) {
    print("\n");
    line("plans failing", of_plans.failing, "their last pass: daybook plans list");
  }
  return exit_code::done;
}

}  // namespace command
