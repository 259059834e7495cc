// daybook runs release, restart, resolve, prune: what a person changes, with who and why.
#include "attempt/attempt.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/operator_input.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace command {

namespace {

/// What all of them take.
struct change_request {
  std::string name;
  std::optional<std::string> key;
  operator_input by;
  database_options where;

  [[nodiscard]] daybook::process process() const { return daybook::process{name}; }
  [[nodiscard]] daybook::key piece() const { return key ? daybook::key{*key} : daybook::key{}; }
  [[nodiscard]] std::string who() const { return name_of(process(), piece()); }
};

void add_person(CLI::App& app, change_request& request) {
  add_reason(app, request.by);
  add_yes(app, request.by);
  add_database_options(app, request.where);
}

void add_run(CLI::App& app, change_request& request) {
  app.add_option("NAME", request.name, "The process")->required();
  app.add_option("--key", request.key, "Which piece of its work (else -)")->type_name("KEY");
  add_person(app, request);
}

daybook::run_detail must_find(daybook::book const& book, change_request const& request) {
  auto found = book.find(request.process(), request.piece());
  if (found) return std::move(*found);
  throw complaint(exit_code::missing,
                  fmt::format("no such run: process {}, key {}; see daybook runs list",
                              printable(request.name), printable(request.piece().str())));
}

std::string holder_of(daybook::run_info const& info) {
  if (!info.holder) return "nobody";
  return fmt::format("process {} on {}{}", info.holder->pid, printable(info.holder->node),
                     info.holder_alive ? "" : ", which is not alive");
}

int tell_held(change_request const& request, std::string_view verb, daybook::book const& book) {
  say(
      fmt::format("{}: {}: held by {}: nothing was changed; take it from there with 'daybook runs "
                  "release' first",
                  verb, request.who(), holder_of(must_find(book, request).info)));
  return exit_code::busy;
}

}  // namespace

int runs_release(arguments const& given) {
  CLI::App app{"Takes a run from whoever holds it, dead or alive; the next start resumes it.",
               "daybook runs release"};
  app.footer(
      "\nEvery later write of that attempt is refused, but what it does outside the database goes\n"
      "on until it notices.\n\nExit codes: 0 also when nobody holds it, 66 no such run.");
  change_request request;
  add_run(app, request);
  parse(app, given, "NAME [options]");
  auto book = open_book(resolve(request.where));
  auto const info = must_find(book, request).info;
  if (info.holder) {
    make_sure(request.by, "runs release",
              fmt::format("{}: take it from {}?", request.who(), holder_of(info)));
  }
  auto const released = book.release(request.process(), request.piece(), request.by.remark());
  say(fmt::format("{}: {}", request.who(),
                  released == daybook::change_outcome::changed ? "released"
                                                               : "nobody holds it, nothing to do"));
  return exit_code::done;
}

int runs_restart(arguments const& given) {
  CLI::App app{"Gives up what a run has done: the next start begins afresh, also with --once.",
               "daybook runs restart"};
  app.footer("\nExit codes: 66 no such run, 75 somebody holds it.");
  change_request request;
  add_run(app, request);
  parse(app, given, "NAME [options]");
  auto book = open_book(resolve(request.where));
  auto const info = must_find(book, request).info;
  make_sure(request.by, "runs restart",
            fmt::format("{}: {}, {} steps done: begin afresh?", request.who(), word_of(info.state),
                        info.steps_done));
  if (book.restart(request.process(), request.piece(), request.by.remark()) !=
      daybook::change_outcome::changed) {
    return tell_held(request, "runs restart", book);
  }
  say(fmt::format("{}: the next run begins afresh", request.who()));
  return exit_code::done;
}

int runs_resolve(arguments const& given) {
  CLI::App app{"Says how an at-most-once step went whose outcome is unknown.",
               "daybook runs resolve"};
  app.footer(
      "\nWhen no step of the run is unknown any more, the next start resumes it.\n"
      "\nExit codes: 65 several steps are unknown and none is named, 66 no such run or no such\n"
      "step that is unknown, 75 somebody holds the run.");
  change_request request;
  daybook::resolution resolution;
  bool was_done = false;
  bool not_done = false;
  add_run(app, request);
  app.add_option("--step", resolution.step, "Which step (else the only one)")->type_name("NAME");
  auto* const done = app.add_flag("--done", was_done, "It happened: it is not done again");
  app.add_flag("--not-done", not_done, "It did not happen: the next attempt does it")
      ->excludes(done);
  app.add_option("--value", resolution.value, "With --done: the value that the step carries")
      ->type_name("TEXT")
      ->needs(done);
  parse(app, given, "NAME --done|--not-done [options]");
  if (was_done == not_done) {
    throw complaint(exit_code::usage, "runs resolve: say --done or --not-done");
  }
  resolution.effect = was_done ? daybook::effect_state::done : daybook::effect_state::not_done;
  auto book = open_book(resolve(request.where));
  resolution.epoch = must_find(book, request).info.epoch;
  make_sure(request.by, "runs resolve",
            fmt::format("{}: step {} {}: sure?", request.who(),
                        resolution.step.empty() ? "(the only one)" : printable(resolution.step),
                        was_done ? "was done" : "was not done"));
  if (book.resolve(request.process(), request.piece(), resolution, request.by.remark()) ==
      daybook::change_outcome::changed) {
    say(fmt::format("{}: {}", request.who(),
                    was_done ? "recorded as done" : "recorded as not done"));
    return exit_code::done;
  }
  if (must_find(book, request).info.holder) return tell_held(request, "runs resolve", book);
  throw complaint(
      exit_code::missing,
      fmt::format("runs resolve: {}: no step{} is unknown; see daybook runs show", request.who(),
                  resolution.step.empty() ? "" : " " + printable(resolution.step)));
}

int runs_prune(arguments const& given) {
  CLI::App app{
      "Deletes history: ended attempts, steps and carried values of finished runs, and "
      "holders that nothing names.",
      "daybook runs prune"};
  app.footer(
      "\nWhat is in hand is left alone, and what an unfinished run has done. It may run "
      "beside work.");
  change_request request;
  daybook::prune_options options;
  std::chrono::milliseconds age = options.older_than;
  bool as_json = false;
  add_duration(app, "--older-than", age, "What ended longer ago, whole hours (90d)");
  app.add_option("--process", options.process, "Only of this process")->type_name("NAME");
  app.add_flag(
      "--forget-runs", options.forget_runs,
      "Runs that are over, too: their keys are as if they had never been, --once included");
  app.add_flag("--json", as_json, "The counts as one object");
  add_person(app, request);
  parse(app, given);
  if (app.count("--process") > 0) daybook::check_name("process name", options.process);
  // Rounded down it would delete what is younger than was said.
  auto const hours = whole<std::chrono::hours>(age);
  if (!hours || *hours < std::chrono::hours{1}) {
    throw complaint(exit_code::usage,
                    fmt::format("runs prune: --older-than {}: whole hours are wanted, 1h and more",
                                text_of(age)));
  }
  options.older_than = *hours;
  auto book = open_book(resolve(request.where));
  make_sure(request.by, "runs prune",
            fmt::format("{}: delete what ended more than {} h ago{}?", printable(book.url()),
                        options.older_than.count(), options.forget_runs ? ", runs too" : ""));
  auto const gone = book.prune(options, request.by.remark());
  if (as_json) {
    print_json({{"attempts", gone.attempts},
                {"steps", gone.steps},
                {"carried", gone.values},
                {"holders", gone.holders},
                {"runs", gone.runs}});
    return exit_code::done;
  }
  print(fmt::format("deleted: {} attempts, {} steps, {} carried values, {} holders, {} runs\n",
                    gone.attempts, gone.steps, gone.values, gone.holders, gone.runs));
  return exit_code::done;
}

}  // namespace command
