// daybook runs: what runs there are, and one of them with its steps and attempts.
#include "exit.hpp"
#include "format.hpp"
#include "options.hpp"
#include "verbs.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace command {

namespace {

using json = nlohmann::ordered_json;

json json_of(std::optional<daybook::timestamp> const& when) {
  return when ? json(iso(*when)) : json(nullptr);
}

json json_of(std::optional<daybook::occupant> const& who, bool alive) {
  if (!who) return nullptr;
  return {{"id", who->holder},
          {"node", who->node},
          {"pid", who->pid},
          {"since", iso(who->since)},
          {"until", iso(who->until)},
          {"step", who->in_hand},
          {"alive", alive}};
}

json json_of(daybook::run_info const& of) {
  return {{"process", of.process},
          {"key", of.key},
          {"state", word_of(of.state)},
          {"state_code", static_cast<int>(of.state)},
          {"run_no", of.number},
          {"attempt", of.attempt},
          {"epoch", of.epoch},
          {"steps_done", of.steps_done},
          {"first_started", iso(of.first_started)},
          {"started", iso(of.started)},
          {"attempt_started", iso(of.attempt_started)},
          {"ended", json_of(of.ended)},
          {"succeeded", json_of(of.succeeded)},
          {"error", of.error},
          {"holder", json_of(of.holder, of.holder_alive)}};
}

json json_of(daybook::run_detail const& of) {
  auto out = json_of(of.info);
  out["steps"] = json::array();
  for (auto const& one : of.steps) {
    out["steps"].push_back({{"name", one.name},
                            {"attempt", one.attempt},
                            {"epoch", one.epoch},
                            {"ended", iso(one.ended)},
                            {"value", one.value}});
  }
  out["attempts"] = json::array();
  for (auto const& one : of.attempts) {
    out["attempts"].push_back({{"run_no", one.number},
                               {"attempt", one.attempt},
                               {"epoch", one.epoch},
                               {"state", word_of(one.state)},
                               {"state_code", static_cast<int>(one.state)},
                               {"started", iso(one.started)},
                               {"ended", iso(one.ended)},
                               {"holder", one.holder},
                               {"node", one.node},
                               {"pid", one.pid},
                               {"error", one.error}});
  }
  return out;
}

std::string text_of(daybook::run_state state) {
  return fmt::format("{} ({})", word_of(state), static_cast<int>(state));
}

std::string text_of(daybook::occupant const& who, bool alive) {
  return fmt::format("process {} on {}, {} {}", who.pid, printable(who.node),
                     alive ? "presumed alive until" : "not alive, its lease was until",
                     seconds_of(who.until));
}

void print_field(std::string_view name, std::string const& value) {
  if (!value.empty()) print(fmt::format("{:<16}{}\n", name, value));
}

void print_text(daybook::run_detail const& of) {
  auto const& info = of.info;
  print_field("process", printable(info.process));
  print_field("key", printable(info.key));
  print_field("state", text_of(info.state));
  print_field("run", std::to_string(info.number));
  print_field("attempt", std::to_string(info.attempt));
  print_field("first started", seconds_of(info.first_started));
  print_field("started", seconds_of(info.started));
  print_field("this attempt", seconds_of(info.attempt_started));
  print_field("ended", seconds_of(info.ended));
  print_field("last success", seconds_of(info.succeeded));
  if (info.holder) {
    print_field("holder", text_of(*info.holder, info.holder_alive));
    print_field("step in hand", printable(info.holder->in_hand));
  }
  print_field("error", printable(info.error));

  print(fmt::format("\nsteps done: {}\n", of.steps.size()));
  if (!of.steps.empty()) {
    table steps({"  STEP", "DONE", "ATTEMPT", "VALUE"});
    for (auto const& one : of.steps) {
      steps.add({"  " + printable(one.name), seconds_of(one.ended), std::to_string(one.attempt),
                 printable(one.value)});
    }
    steps.print();
  }
  print(fmt::format("\nattempts ended: {}\n", of.attempts.size()));
  if (!of.attempts.empty()) {
    table attempts({"  RUN", "ATTEMPT", "STATE", "STARTED", "ENDED", "NODE", "PID", "ERROR"});
    for (auto const& one : of.attempts) {
      attempts.add({fmt::format("  {}", one.number), std::to_string(one.attempt),
                    text_of(one.state), seconds_of(one.started), seconds_of(one.ended),
                    printable(one.node), std::to_string(one.pid), printable(one.error)});
    }
    attempts.print();
  }
}

void print_text(std::vector<daybook::run_info> const& all) {
  table rows(
      {"PROCESS", "KEY", "STATE", "RUN", "ATTEMPT", "STEPS", "STARTED", "ENDED", "NODE", "ERROR"});
  for (auto const& one : all) {
    auto const state = one.holder && !one.holder_alive ? "holder dead, " : "";
    rows.add({printable(one.process), printable(one.key), state + text_of(one.state),
              std::to_string(one.number), std::to_string(one.attempt),
              std::to_string(one.steps_done), seconds_of(one.attempt_started),
              seconds_of(one.ended), one.holder ? printable(one.holder->node) : "-",
              printable(one.error)});
  }
  rows.print();
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
  app.add_flag("--json", as_json, "One object per line");
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
  CLI::App app{"Shows one run: its state, holder, steps and every ended attempt.",
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
  auto const found = open_book(resolve(where)).find(process, piece);
  if (!found) {
    throw complaint(exit_code::missing,
                    fmt::format("no such run: process {}, key {}; see daybook runs list",
                                printable(name), printable(piece.str())));
  }
  if (as_json) {
    print_json(json_of(*found));
  } else {
    print_text(*found);
  }
  return exit_code::done;
}

}  // namespace command
