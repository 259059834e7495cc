// The daybook command: finds the verb, and turns what goes wrong into the exit codes that scripts
// depend on (exit.hpp). Everything it does, it does through the public API.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/nearest.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "daemon/init.hpp"
#include "process/inherited.hpp"

#include <daybook/error.hpp>
#include <daybook/version.hpp>
#ifdef DAYBOOK_FAULT_INJECTION
#include <daybook/testing.hpp>
#endif

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <ios>
#include <new>
#include <system_error>

namespace command {

namespace {

struct verb {
  std::string_view group;  ///< the first of two words, or empty
  std::string_view name;
  int (*work)(arguments const&);
  std::string_view summary;
};

#ifdef DAYBOOK_SERVE
constexpr std::size_t verb_count = 88;
#else
constexpr std::size_t verb_count = 87;
#endif

constexpr std::array<verb, verb_count> verbs{{
    {"", "run", run, "runs a command as one run of a process, one holder at a time"},
    {"", "step", step, "inside a run: does one step, once"},
    {"", "progress", progress, "inside a run: tells how far it is"},
    {"", "carry", carry, "inside a run: keeps a value for later steps and attempts"},
    {"", "status", status, "the book at a glance: what is in hand, what waits for a person"},
    {"", "holders", holders, "lists processes that work in the book, and what they have in hand"},
    {"runs", "list", runs_list, "lists runs"},
    {"runs", "show", runs_show, "shows one run with its steps and attempts"},
    {"runs", "release", runs_release, "takes a run from its holder; anyone resumes it"},
    {"runs", "restart", runs_restart, "gives up what is there; the next run begins afresh"},
    {"runs", "resolve", runs_resolve, "says how an at-most-once step went that is unknown"},
    {"runs", "prune", runs_prune, "deletes old history"},
    {"schedules", "list", schedules_list, "lists schedules"},
    {"schedules", "show", schedules_show, "shows one schedule"},
    {"schedules", "next", schedules_next, "prints when ticks come, also of a cron expression"},
    {"schedules", "ticks", schedules_ticks, "lists what became of a schedule's ticks"},
    {"schedules", "trigger", schedules_trigger, "asks for a tick now"},
    {"schedules", "retry", schedules_retry, "makes a tick that failed due again"},
    {"schedules", "pause", schedules_pause, "launches nothing until it is resumed"},
    {"schedules", "resume", schedules_resume, "ends a pause"},
    {"schedules", "remove", schedules_remove, "ends a schedule; its ticks are kept"},
    {"queues", "list", queues_list, "lists queues"},
    {"queues", "show", queues_show, "shows one queue"},
    {"queues", "stats", queues_stats, "counts the tasks of queues by their state"},
    {"queues", "make", queues_make, "makes a queue, or changes its options"},
    {"queues", "add", queues_add, "adds keys"},
    {"queues", "import", queues_import, "adds many keys, from a file, stdin or a query"},
    {"queues", "remove", queues_remove, "removes keys"},
    {"queues", "pause", queues_pause, "lets no task start until it is resumed"},
    {"queues", "resume", queues_resume, "ends a pause"},
    {"queues", "watch", queues_watch, "lets keys follow a column of a table"},
    {"queues", "unwatch", queues_unwatch, "lets them follow none"},
    {"queues", "reconcile", queues_reconcile, "compares a queue with the table it follows"},
    {"tasks", "list", tasks_list, "lists the tasks of a queue that are in a state"},
    {"tasks", "show", tasks_show, "shows one task"},
    {"tasks", "run-now", tasks_run_now, "makes tasks due now"},
    {"tasks", "priority", tasks_priority, "gives tasks another priority"},
    {"tasks", "retry", tasks_retry, "makes tasks due now, also those that wait for a person"},
    {"tasks", "discard", tasks_discard, "gives tasks up"},
    {"tasks", "resolve", tasks_resolve, "says how tasks went whose outcome is unknown"},
    {"aggregates", "list", aggregates_list, "lists aggregations"},
    {"aggregates", "show", aggregates_show, "shows how one is declared"},
    {"aggregates", "run", aggregates_run, "takes every row that is free"},
    {"aggregates", "close", aggregates_close, "adds no more rows to parents"},
    {"aggregates", "settle", aggregates_settle, "settles parents with their rows"},
    {"aggregates", "revert", aggregates_revert, "makes parents void, their rows free"},
    {"aggregates", "remove", aggregates_remove, "frees single rows of an open parent"},
    {"aggregates", "parents", aggregates_parents, "lists parents"},
    {"aggregates", "rows", aggregates_rows, "lists the rows of a parent"},
    {"aggregates", "parent", aggregates_parent, "prints which parent has a row"},
    {"aggregates", "verify", aggregates_verify, "compares every parent with its rows"},
    {"aggregates", "history", aggregates_history, "lists what was done"},
    {"plans", "list", plans_list, "lists planners"},
    {"plans", "show", plans_show, "shows one planner"},
    {"plans", "run", plans_run, "launches what must exist and does not"},
    {"plans", "preview", plans_preview, "prints what that would launch, and what not"},
    {"plans", "refused", plans_refused, "lists keys that were not launched, and why"},
    {"plans", "find", plans_find, "says what is known of one key"},
    {"plans", "forget", plans_forget, "lets keys be launched as if never before"},
    {"plans", "grid", plans_grid, "lists the periods of a window"},
    {"plans", "reopen", plans_reopen, "has a period launched once more"},
    {"plans", "sweeps", plans_sweeps, "lists the sweeps over a table"},
    {"plans", "sweep", plans_sweep, "begins the next sweep"},
    {"plans", "page", plans_page, "prints the rows of a page"},
    {"plans", "pause", plans_pause, "lets daemons make no passes until it is resumed"},
    {"plans", "resume", plans_resume, "ends a pause"},
    {"intakes", "list", intakes_list, "lists intakes of a broker's messages"},
    {"intakes", "show", intakes_show, "shows one intake, and how far it is"},
    {"intakes", "refused", intakes_refused, "lists messages that were put aside, and why"},
    {"intakes", "retry", intakes_retry, "takes messages that were put aside"},
    {"intakes", "discard", intakes_discard, "drops messages that were put aside"},
    {"intakes", "move", intakes_move, "goes on from another position"},
    {"intakes", "pause", intakes_pause, "takes no messages until it is resumed"},
    {"intakes", "resume", intakes_resume, "ends a pause, or goes on after a stop"},
    {"", "metrics", metrics, "prints what monitoring wants to know, for Prometheus"},
    {"hooks", "list", hooks_list, "lists who is told of problems"},
    {"hooks", "test", hooks_test, "tells one of them now, as a test"},
    {"tokens", "list", tokens_list, "lists who may use the console and the HTTP API"},
    {"tokens", "add", tokens_add, "makes a token"},
    {"tokens", "link", tokens_link, "prints a link for one login to the console"},
    {"tokens", "revoke", tokens_revoke, "refuses a token or a session from now on"},
#ifdef DAYBOOK_SERVE
    {"", "serve", serve_console, "serves the console, the HTTP API and metrics"},
#endif
    {"", "daemon", daemon, "serves what daybook.toml declares"},
    {"migrate", "up", migrate_up, "makes the book's tables, or brings them to this version"},
    {"migrate", "status", migrate_status, "shows which migrations are applied"},
    {"migrate", "sql", migrate_sql, "prints the SQL of every migration"},
    {"", "doctor", doctor, "looks at every precondition of the guarantees"},
    {"", "version", version, "prints the version"},
}};

void print_help(std::string_view group = {}) {
  print("Usage: daybook VERB [options]\n\n");
  for (auto const& one : verbs) {
    if (!group.empty() && one.group != group) continue;
    print(fmt::format("  {:<19}{}\n",
                      fmt::format("{}{}{}", one.group, one.group.empty() ? "" : " ", one.name),
                      one.summary));
  }
  print(
      "\ndaybook VERB --help tells more. The database: --db URL, else DAYBOOK_DATABASE_URL,\n"
      "else DATABASE_URL, else database in daybook.toml, else sqlite:daybook.db.\n"
      "Data to stdout, all else to stderr.\n");
}

/// `daybook --db URL runs list` means `daybook runs list --db URL`.
arguments with_verb_first(arguments given) {
  std::size_t at = 0;
  while (at < given.size()) {
    auto const& one = given[at];
    if (one == "--db" || one == "--schema" || one == "--prefix") {
      at += 2;
    } else if (one.starts_with("--db=") || one.starts_with("--schema=") ||
               one.starts_with("--prefix=")) {
      at += 1;
    } else {
      break;
    }
  }
  if (at == 0 || at >= given.size()) return given;
  auto const begin = given.begin();
  auto const middle = begin + static_cast<std::ptrdiff_t>(at);
  bool const two_words = std::any_of(verbs.begin(), verbs.end(),
                                     [&](verb const& one) { return one.group == *middle; });
  auto const end = middle + std::min<std::ptrdiff_t>(two_words ? 2 : 1, given.end() - middle);
  std::rotate(begin, middle, end);
  return given;
}

/// `daybook help runs list` means `daybook runs list --help`.
arguments with_help_last(arguments given) {
  if (given.front() != "help") return given;
  given.erase(given.begin());
  given.emplace_back("--help");
  return given;
}

/// `group`: the first word, where that is known.
[[noreturn]] void unknown_verb(std::string_view verb, std::string_view group = {}) {
  std::vector<std::string> names;
  for (auto const& one : verbs) {
    if (one.group.empty()) {
      names.emplace_back(one.name);
    } else {
      names.push_back(one.group == group ? fmt::format("{} {}", group, one.name)
                                         : std::string(one.group));
    }
  }
  throw complaint(exit_code::usage, fmt::format("no such verb: {}{} (see daybook --help)",
                                                printable(without_passwords(std::string(verb))),
                                                did_you_mean(verb, names)));
}

int dispatch(arguments given) {
  if (given.empty()) {
    print_help();
    finish_output();
    throw complaint(exit_code::usage, "no verb given");
  }
  given = with_help_last(with_verb_first(std::move(given)));
  auto const& first = given.front();
  if (first == "--help" || first == "-h") {
    print_help();
    return exit_code::done;
  }
  if (first == "--version") return version({});
  bool group_known = false;
  for (auto const& one : verbs) {
    if (one.group.empty() && one.name == first) return one.work({given.begin() + 1, given.end()});
    if (one.group.empty() || one.group != first) continue;
    group_known = true;
    if (given.size() > 1 && one.name == given[1]) {
      return one.work({given.begin() + 2, given.end()});
    }
  }
  if (!group_known) unknown_verb(first);
  if (given.size() > 1 && given[1] != "--help" && given[1] != "-h") {
    unknown_verb(first + " " + given[1], first);
  }
  print_help(first);
  finish_output();
  if (given.size() == 1) {
    throw complaint(exit_code::usage, fmt::format("{}: which of these?", first));
  }
  return exit_code::done;
}

/// What the library says, made safe to print.
std::string text_of(daybook::error const& e) { return printable(without_passwords(e.what())); }

/// Also where it is help that was asked for, whose end may not have been written yet.
int dispatch_or_help(arguments given) {
  try {
    return dispatch(std::move(given));
  } catch (help_shown const&) {
    return exit_code::done;
  }
}

int guarded(arguments given) {
  try {
#ifdef DAYBOOK_FAULT_INJECTION
    daybook::testing::arm_from_environment();
#endif
    int const code = dispatch_or_help(std::move(given));
    finish_output();
    return code;
  } catch (complaint const& e) {
    say(e.what());
    return e.code();
  } catch (daybook::error const& e) {
    say(text_of(e));
    return code_of(e.kind());
  } catch (std::bad_alloc const&) {
    say("out of memory");
    return exit_code::io;
  } catch (std::system_error const& e) {
    say(printable(e.what()));
    return exit_code::io;
  } catch (std::exception const& e) {
    say(fmt::format("a defect of this program: {}", printable(e.what())));
    return exit_code::defect;
  }
}

}  // namespace

int version(arguments const& given) {
  if (!given.empty() && given.front() != "--help") {
    throw complaint(exit_code::usage, "version: takes no arguments");
  }
  print(given.empty() ? "daybook " DAYBOOK_VERSION "\n" : "Usage: daybook version\n");
  return exit_code::done;
}

}  // namespace command

int main(int count, char** argv) {
  // The streams of C know no failure to read: a stdin that is closed would be an empty one.
  std::ios::sync_with_stdio(false);
  command::remember_inherited();
  command::arguments given(argv + std::min(count, 1), argv + count);
  command::hide_urls(count, argv);
  command::work_beneath_init();
  return command::guarded(std::move(given));
}
