// daybook status: what is wrong, and the book at a glance.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "verbs/book/holder_text.hpp"
#include "wire/book.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace command {

namespace {

/// "act now: queue mail: tasks are due: ..., since 2026-11-21T12:00:00Z; daybook daemon"
std::string line_of(daybook::problem const& one) {
  return fmt::format("{}: {}: {}{}; {}\n", daybook::word_of(one.urgency), printable(one.subject),
                     printable(one.why), one.since ? ", since " + seconds_of(*one.since) : "",
                     printable(one.remedy));
}

/// For cron and monitoring.
int check(daybook::book const& book, bool as_json) {
  auto const problems = book.problems();
  if (as_json) {
    print_json({{"well", problems.empty()}, {"problems", json_of(problems)}});
  } else if (problems.empty()) {
    auto const holders = book.holders();
    auto const alive = std::count_if(holders.begin(), holders.end(), [](auto const& one) {
      return one.state == daybook::holder_state::alive;
    });
    print(fmt::format("well: no problems; processes alive: {}\n", alive));
  }
  for (auto const& one : problems) {
    if (!as_json) print(line_of(one));
  }
  return problems.empty() ? exit_code::done : exit_code::differs;
}

/// Who has something in hand, and where; of many the first.
void print_holders(std::vector<daybook::holder_info> const& all) {
  constexpr int most = 10;
  int more = -most;
  for (auto const& one : all) {
    if (one.work.empty() || ++more > 0) continue;
    print(fmt::format("  process {} on {}, {}: {}\n", one.pid, printable(one.node),
                      daybook::word_of(one.state), text_of(one.work)));
  }
  if (more > 0) print(fmt::format("  and {} more: daybook holders\n", more));
}

void print_text(daybook::book const& book, glance const& seen) {
  auto const line = [](std::string_view name, std::int64_t count, std::string_view note = {}) {
    print(fmt::format("{:<14}{:>8}{}{}\n", name, count, note.empty() || count == 0 ? "" : "  ",
                      count == 0 ? "" : note));
  };
  print(fmt::format("{}, {} by its clock\n\n", printable(book.url()), seconds_of(seen.status.now)));
  for (auto const& one : seen.problems) print(line_of(one));
  if (!seen.problems.empty()) print("\n");
  line("processes", seen.status.holders_alive, "alive: daybook holders");
  line("in hand", seen.status.runs_in_hand);
  print_holders(book.holders());
  line("abandoned", seen.status.runs_abandoned,
       "their process is dead: the next start takes them over");
  line("overdue", seen.status.runs_overdue,
       "their deadline passed: the next start takes them over");
  line("interrupted", seen.status.runs_interrupted, "the next start resumes them");
  line("failed", seen.status.runs_failed, "daybook runs list --state failed");
  line("unknown", seen.status.runs_unknown, "a person decides: daybook runs list --state unknown");
  line("succeeded", seen.status.runs_succeeded);
  if (seen.status.runs_capped) print("of the newest runs and attempts; of all: --exact\n");
  if (seen.status.queues > 0) {
    print("\n");
    line("tasks due", seen.status.tasks_due, seen.status.tasks_capped ? "at least" : "");
    line("running", seen.status.tasks_running);
    line("dead", seen.status.tasks_dead, "a person decides: daybook tasks list QUEUE --state dead");
    line("unknown", seen.status.tasks_unknown,
         "a person decides: daybook tasks list QUEUE --state unknown");
  }
  if (seen.plans.all > 0) {
    print("\n");
    line("plans failing", seen.plans.failing, "their last pass: daybook plans list");
  }
}

}  // namespace

int status(arguments const& given) {
  CLI::App app{
      "The book at a glance. First the problems: work that nobody does, and what waits for a "
      "person.\n"
      "Then runs, with the ticks of schedules; tasks of all queues; plans; and who has what in "
      "hand.",
      "daybook status"};
  app.footer(
      "\nWhat has waited for a minute, and for the grain of its queue, is a problem.\n"
      "\nExit codes: with --check, 0 when there is no problem, 1 when there is any.");
  database_options where;
  bool as_json = false;
  bool checks = false;
  bool exact = false;
  app.add_flag("--json", as_json, "One object, on one line");
  app.add_flag("--check", checks,
               "Only the problems, one a line: the thing, why, since when, and the command that "
               "mends it");
  app.add_flag("--exact", exact, "Count all runs and due tasks, not the newest: this reads all");
  add_database_options(app, where);
  parse(app, given);
  auto const book = open_book(resolve(where));
  auto const depth = exact ? daybook::status_depth::all : daybook::status_depth::newest;
  if (checks) return check(book, as_json);
  auto const seen = glance_at(book, depth);
  if (as_json) {
    print_json(json_of(seen));
  } else {
    print_text(book, seen);
  }
  return exit_code::done;
}

}  // namespace command
