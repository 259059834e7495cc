// daybook runs: what runs there are, and one of them with its steps and attempts.
#include "cli/dates.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/nearest.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "wire/runs.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace command {

namespace {

using json = nlohmann::ordered_json;

std::string text_of(daybook::run_state state) {
  return fmt::format("{} ({})", word_of(state), static_cast<int>(state));
}

std::string text_of(daybook::lease_holder const& holder, bool alive) {
  return fmt::format("process {} on {}, {} {}", holder.pid, printable(holder.node),
                     alive ? "presumed alive until" : "not alive, its lease was until",
                     seconds_of(holder.until));
}

void print_if_any(std::string_view name, std::string const& value) {
  if (!value.empty()) print_field(name, value);
}

/// "3 of 40: invoices"
std::string text_of(daybook::progress_info const& far) {
  return fmt::format("{}{}{}{}", far.done, far.total > 0 ? fmt::format(" of {}", far.total) : "",
                     far.note.empty() ? "" : ": ", printable(far.note));
}

/// What the state is worth now.
std::string standing_of(daybook::run_info const& info) {
  auto const now =
      info.abandoned ? "abandoned since " + seconds_of(*info.abandoned) : text_of(info.state);
  return info.deadline_over ? "deadline passed, " + now : now;
}

void print_info(daybook::run_info const& info) {
  print_if_any("process", printable(info.process));
  print_if_any("key", printable(info.key));
  print_if_any("state", standing_of(info));
  print_if_any("run", std::to_string(info.number));
  print_if_any("attempt", std::to_string(info.attempt));
  if (info.date) print_if_any("date of its data", command::text_of(*info.date));
  print_if_any("first started", seconds_of(info.first_started));
  print_if_any("started", seconds_of(info.started));
  print_if_any("this attempt", seconds_of(info.attempt_started));
  if (info.deadline) print_if_any("deadline", seconds_of(*info.deadline));
  print_if_any("ended", seconds_of(info.ended));
  print_if_any("last success", seconds_of(info.succeeded));
  if (info.holder) {
    print_if_any("holder", text_of(*info.holder, info.holder_alive));
    print_if_any("step in hand", printable(info.holder->in_hand));
  }
  if (info.progress) print_if_any("progress", text_of(*info.progress));
  print_if_any("error", printable(info.error));
}

void print_steps(daybook::run_detail const& detail) {
  print(fmt::format("\nsteps done: {}\n", detail.steps.size()));
  if (!detail.steps.empty()) {
    table steps({"  STEP", "MODE", "DONE", "TOOK", "ATTEMPT", "VALUE"});
    for (auto const& one : detail.steps) {
      steps.add(
          {"  " + printable(one.name), std::string(word_of(one.mode)), seconds_of(one.ended),
           one.took ? fmt::format("{:.3f}s", static_cast<double>(one.took->count()) / 1e6) : "-",
           std::to_string(one.attempt), shortened(one.value)});
    }
    steps.print();
  }
  if (!detail.intents.empty()) {
    print(fmt::format("\nat-most-once steps without an outcome: {}\n", detail.intents.size()));
    table intents({"  STEP", "BEGUN", "ATTEMPT", ""});
    for (auto const& one : detail.intents) {
      intents.add({"  " + printable(one.name), seconds_of(one.started), std::to_string(one.attempt),
                   one.unknown ? "unknown: daybook runs resolve" : "not settled"});
    }
    intents.print();
  }
  if (!detail.values.empty()) {
    print(fmt::format("\ncarried: {}\n", detail.values.size()));
    table carried({"  NAME", "SET", "VALUE"});
    for (auto const& one : detail.values) {
      carried.add({"  " + printable(one.name), seconds_of(one.updated), shortened(one.value)});
    }
    carried.print();
  }
}

void print_attempts(std::vector<daybook::attempt_info> const& all) {
  print(fmt::format("\nattempts ended: {}\n", all.size()));
  if (all.empty()) return;
  table attempts(
      {"  RUN", "ATTEMPT", "STATE", "STARTED", "ENDED", "NODE", "PID", "EXIT", "STEP", "ERROR"});
  for (auto const& one : all) {
    attempts.add({fmt::format("  {}", one.number), std::to_string(one.attempt), text_of(one.state),
                  seconds_of(one.started), seconds_of(one.ended), printable(one.node),
                  std::to_string(one.pid), one.exit_code ? std::to_string(*one.exit_code) : "-",
                  one.in_hand.empty() ? "-" : printable(one.in_hand), printable(one.error)});
  }
  attempts.print();
  auto const& last = all.back().output;
  if (last.empty()) return;
  print("\nits last output:\n");
  for (std::size_t from = 0; from < last.size();) {
    auto const end = std::min(last.find('\n', from), last.size());
    print("  " + printable(std::string_view(last).substr(from, end - from)) + "\n");
    from = end + 1;
  }
}

void print_text(daybook::run_detail const& detail,
                std::vector<daybook::change_info> const& changes) {
  print_info(detail.info);
  print_steps(detail);
  print_attempts(detail.attempts);
  print_changes(changes);
}

/// In hand, as last renewed.
std::string step_of(daybook::run_info const& info) {
  return info.holder && !info.holder->in_hand.empty() ? printable(info.holder->in_hand) : "-";
}

void print_text(std::vector<daybook::run_info> const& all) {
  table rows({"PROCESS", "KEY", "STATE", "RUN", "ATTEMPT", "STEPS", "STEP", "PROGRESS", "STARTED",
              "ENDED", "NODE", "PID", "ERROR"});
  for (auto const& one : all) {
    rows.add({printable(one.process), printable(one.key), standing_of(one),
              std::to_string(one.number), std::to_string(one.attempt),
              std::to_string(one.steps_done), step_of(one),
              one.progress ? text_of(*one.progress) : "-", seconds_of(one.attempt_started),
              seconds_of(one.ended), one.holder ? printable(one.holder->node) : "-",
              one.holder ? std::to_string(one.holder->pid) : "-", printable(one.error)});
  }
  rows.print();
}

/// With what there is instead: other keys of the process, or a process of a name like this.
std::string no_such_run(daybook::book const& book, daybook::process const& process,
                        daybook::key const& piece) {
  constexpr std::int64_t enough = 21;  // one more than are named
  auto const text = fmt::format("no such run: process {}, key {}", printable(process.str()),
                                printable(piece.str()));
  std::vector<std::string> keys;
  for (auto const& one : book.runs({.process = process.str(), .limit = enough})) {
    keys.push_back(one.key);
  }
  if (!keys.empty()) {
    auto const given = piece == daybook::key{} ? std::string() : piece.str();
    return fmt::format("{}; name one of its keys with --key: {}", text, there_are(keys, given));
  }
  std::vector<std::string> names;
  for (auto const& one : book.runs({.limit = 1000})) names.push_back(one.process);
  return fmt::format("{}{}; see daybook runs list", text, did_you_mean(process.str(), names));
}

}  // namespace

int runs_list(arguments const& given) {
  CLI::App app{"Lists runs, newest attempts first.", "daybook runs list"};
  database_options where;
  daybook::runs_query query;
  std::string state;
  bool as_json = false;
  app.add_option("--process", query.process, "Only of this process")->type_name("NAME");
  app.add_option("--state", state, "Only in this state: " + state_words())->type_name("STATE");
  app.add_option("--limit", query.limit, "At most so many (100)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  add_json(app, as_json);
  add_database_options(app, where);
  parse(app, given);
  if (app.count("--state") > 0) {
    query.state = state_from(state);
    if (!query.state) {
      throw complaint(exit_code::usage, fmt::format("runs list: --state {}: no state; "
                                                    "there are {}",
                                                    printable(state), state_words()));
    }
  }
  if (app.count("--process") > 0) daybook::check_name("process name", query.process);
  auto const found = open_book(resolve(where)).runs(query);
  if (as_json) {
    for (auto const& one : found) print_json(json_of(one));
  } else {
    print_text(found);
  }
  return exit_code::done;
}

int runs_show(arguments const& given) {
  CLI::App app{
      "Shows one run: its state, holder, steps, every ended attempt, and what people changed.",
      "daybook runs show"};
  app.footer("\nExit codes: 66 when there is no such run.");
  database_options where;
  std::string name;
  std::optional<std::string> key;
  bool as_json = false;
  app.add_option("NAME", name, "The process")->required();
  app.add_option("--key", key, "Which piece of its work (else -)")->type_name("KEY");
  app.add_flag("--json", as_json, "One object, on one line");
  add_database_options(app, where);
  parse(app, given, "NAME [options]");
  daybook::process const process{name};
  auto const piece = key ? daybook::key{*key} : daybook::key{};
  auto const book = open_book(resolve(where));
  auto const found = book.find(process, piece);
  if (!found) {
    throw complaint(exit_code::missing, no_such_run(book, process, piece));
  }
  auto const changes = book.changes(process, piece);
  if (as_json) {
    print_json(json_of(*found, changes));
  } else {
    print_text(*found, changes);
  }
  return exit_code::done;
}

}  // namespace command
