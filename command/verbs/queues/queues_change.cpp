// daybook queues make, add, remove, pause, resume: what a person does to a queue.
#include "cli/dates.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/operator_input.hpp"
#include "cli/queue_words.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "verbs/queues/queue_verbs.hpp"
#include "wire/queues.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace command {

namespace {

struct queue_request {
  std::string name;
  std::vector<std::string> keys;
  operator_input by;
  database_options where;
};

void add_queue(CLI::App& app, queue_request& request) {
  app.add_option("NAME", request.name, "The queue")->required();
}

void add_rest(CLI::App& app, queue_request& request) {
  add_reason(app, request.by);
  add_database_options(app, request.where);
}

/// Also in the order in which they were given; what is no key is found before any is changed.
std::vector<daybook::key> keys_of(queue_request const& request) {
  std::vector<daybook::key> out;
  for (auto const& one : request.keys) out.emplace_back(one);
  return out;
}

/// On failure: complaint (74).
std::string all_of_stdin() {
  std::string out;
  std::array<char, 65536> piece{};
  errno = 0;
  while (std::cin.read(piece.data(), piece.size()) || std::cin.gcount() > 0) {
    out.append(piece.data(), static_cast<std::size_t>(std::cin.gcount()));
  }
  if (std::cin.bad()) {
    throw complaint(exit_code::io,
                    fmt::format("stdin: {}", errno == 0 ? "cannot be read" : std::strerror(errno)));
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

void add_rate(CLI::App& app, std::optional<daybook::rate>& option) {
  app.add_option_function<std::string>(
         "--rate",
         [&option](std::string const& given) {
           option = rate_from(given);
           if (!option && given != "none") {
             throw CLI::ValidationError(
                 "--rate", fmt::format("'{}' is no rate: write 50/s, 600/m, 3000/h, 9/d or none",
                                       printable(given)));
           }
         },
         "So many may start in which time, over all machines: 50/s, 3000/h; none (none)")
      ->type_name("RATE");
}

/// Lengths of time as they are given; what is not given stays as it is.
struct lengths {
  explicit lengths(daybook::queue_options const& options)
      : period(std::chrono::floor<std::chrono::milliseconds>(options.period)),
        backoff(options.backoff),
        longest_backoff(options.longest_backoff),
        retention(options.retention),
        done_retention(options.done_retention) {}

  std::chrono::milliseconds period;
  std::chrono::milliseconds grain{0};
  std::chrono::milliseconds backoff;
  std::chrono::milliseconds longest_backoff;
  std::chrono::milliseconds retention;
  std::chrono::milliseconds done_retention;
};

void add_lengths(CLI::App& app, lengths& limits) {
  add_duration(app, "--period", limits.period, "Each key again so often; 0s: each once (0s)");
  add_duration(app, "--grain", limits.grain,
               "Due times are rounded up to this (a sixteenth of the period, or 1s)");
  add_duration(app, "--backoff", limits.backoff, "The pause after the first failure (30s)");
  add_duration(app, "--longest-backoff", limits.longest_backoff, "It doubles up to this (1h)");
  add_duration(app, "--retention", limits.retention,
               "Outcomes are kept so long, whole hours (30d)");
  add_duration(app, "--forget-done", limits.done_retention,
               "Keys that are done are removed so long after, 1m and more, not with a period; 0s: "
               "never (0s)");
}

/// On failure: complaint (65). Rounded it would be another length than the one that was asked for.
template <class Unit>
Unit must_be_whole(std::string_view queue, std::string_view flag, std::chrono::milliseconds given) {
  if (auto const out = whole<Unit>(given)) return *out;
  throw complaint(exit_code::bad_data,
                  fmt::format("queue '{}': {} {}: whole {} are wanted", printable(queue), flag,
                              text_of(given), name_of_unit<Unit>));
}

void put_lengths(std::string_view queue, CLI::App const& app, lengths const& limits,
                 daybook::queue_options& options) {
  // The grain that goes with a period goes with the former one only.
  if (app.count("--period") + app.count("--grain") > 0) options.grain = limits.grain;
  options.period = limits.period;
  options.backoff = limits.backoff;
  options.longest_backoff = limits.longest_backoff;
  options.retention = must_be_whole<std::chrono::hours>(queue, "--retention", limits.retention);
  options.done_retention =
      must_be_whole<std::chrono::seconds>(queue, "--forget-done", limits.done_retention);
}

void add_options(CLI::App& app, daybook::queue_options& options) {
  add_word(app, "--cadence", options.period_anchor, cadence_words,
           "From where a period is counted: from-turn or from-finish (from-turn)");
  add_word(app, "--mode", options.mode, mode_words,
           "at-least-once, at-most-once or tx (at-least-once)");
  app.add_option("--attempts", options.attempts, "So many failures make a task failed or dead (5)")
      ->type_name("N");
  app.add_option("--crash-limit", options.crash_limit, "So many dead workers make a task dead (3)")
      ->type_name("N");
  app.add_option("--limit", options.running_limit,
                 "At most so many in hand at once, over all machines; 0: no limit (0)")
      ->type_name("N");
  add_rate(app, options.rate);
  app.add_option("--burst", options.burst,
                 "So many may start at once after a pause, and then at the rate (1)")
      ->type_name("N");
  app.add_flag("--rounds,!--no-rounds", options.rounds,
               "Only what was due when a round was opened is claimed");
  add_word(app, "--on-new", options.new_member_policy, on_new_words,
           "In a queue of rounds a new key is due: next-round or now (next-round)");
  app.add_flag("--every-outcome,!--no-every-outcome", options.record_every_outcome,
               "A row of history for every task");
  app.add_flag("--in-order,!--no-in-order", options.in_order,
               "Keys that agree up to their last / one after the other; chosen when it is made");
  app.add_option("--segment", options.segment,
                 "So many neighbours share a row: best, what one claim takes (1000)")
      ->type_name("N");
}

}  // namespace

/// The options are read twice: what is not given stays as it is in a queue that is there.
int queues_make(arguments const& given) {
  daybook::queue_options options;
  for (bool looked = false;; looked = true) {
    CLI::App app{"Makes a queue, or changes the options that are given of one that is there.",
                 "daybook queues make"};
    app.footer(
        "\nWhat is in it stays. A daemon whose daybook.toml has a queue of this name makes it what "
        "its\nfile says.\n\nExit codes: 65 an option that cannot be.");
    queue_request request;
    lengths times(options);
    add_queue(app, request);
    add_lengths(app, times);
    add_options(app, options);
    add_rest(app, request);
    parse(app, given, "NAME [options]");
    put_lengths(request.name, app, times, options);
    auto book = open_book(resolve(request.where));
    daybook::check_name("queue name", request.name);
    auto const there = book.queue(request.name);
    if (there && !looked) {
      options = there->info().options;
      continue;
    }
    book.make_queue(request.name, options, request.by.remark());
    say(fmt::format("{}: {}", printable(request.name),
                    there ? "there, with these options" : "made"));
    return exit_code::done;
  }
}

int queues_add(arguments const& given) {
  CLI::App app{
      "Adds keys to a queue. Of those that are there already only a --priority is changed.",
      "daybook queues add"};
  app.footer(
      "\nMany of them: daybook queues import.\n\nExit codes: 65 what is no key, 66 no such "
      "queue.");
  queue_request request;
  daybook::task_options options;
  std::string at;
  std::string payload;
  bool as_json = false;
  add_queue(app, request);
  app.add_option("KEY", request.keys, "What is to be done")->required();
  app.add_option("--payload", payload, "What goes with each of them; -: read from stdin")
      ->type_name("TEXT");
  app.add_option("--at", at, "Not before this instant (at once)")->type_name("INSTANT");
  app.add_option("--priority", options.priority, "0 (first) to 9 (5)")
      ->type_name("N")
      ->check(CLI::Range(0, 9));
  app.add_flag("--json", as_json, "How many, as one object");
  add_database_options(app, request.where);
  parse(app, given, "NAME KEY... [options]");
  if (app.count("--at") > 0) options.at = instant_from(at);
  auto const keys = keys_of(request);
  auto book = open_book(resolve(request.where));
  auto queue = must_have_queue(book, request.name);
  if (app.count("--payload") > 0) options.payload = payload == "-" ? all_of_stdin() : payload;
  // One by one: unlike an import, that leaves no id behind where a key is there already.
  daybook::import_report done;
  bool const urgent = app.count("--priority") > 0;
  for (auto const& one : keys) {
    bool const added = queue.add(one, options);
    if (!added && urgent) queue.set_priority(one, options.priority);
    ++(added ? done.added : done.present);
  }
  if (as_json) print_json(json_of(done));
  say(fmt::format("{}: {} added, {} there already{}", printable(request.name), done.added,
                  done.present,
                  urgent && done.present > 0
                      ? fmt::format(", with priority {} from the next claim on", options.priority)
                      : ""));
  return exit_code::done;
}

int queues_remove(arguments const& given) {
  CLI::App app{"Removes keys from a queue. A task in hand is finished all the same.",
               "daybook queues remove"};
  app.footer(
      "\nOf a queue that follows a table: the next reconcile adds again what has a row there.\n"
      "\nExit codes: 66 when there is no such queue, or one of the keys is not there; the others "
      "are\nremoved.");
  queue_request request;
  add_queue(app, request);
  app.add_option("KEY", request.keys, "Which")->required();
  add_yes(app, request.by);
  add_rest(app, request);
  parse(app, given, "NAME KEY... [options]");
  auto const keys = keys_of(request);
  auto book = open_book(resolve(request.where));
  auto queue = must_have_queue(book, request.name);
  make_sure(
      request.by, "queues remove",
      fmt::format("{}: remove {}{}: sure?", printable(request.name), printable(request.keys[0]),
                  keys.size() > 1 ? fmt::format(" and {} more", keys.size() - 1) : ""));
  auto const who = request.by.remark();
  int code = exit_code::done;
  for (auto const& one : keys) {
    bool const removed = queue.remove(one, who);
    if (!removed) code = exit_code::missing;
    say(fmt::format("{}: {}: {}", printable(request.name), printable(one.str()),
                    removed ? "removed" : "no such key"));
  }
  return code;
}

int queues_pause(arguments const& given) {
  CLI::App app{"Lets no task of a queue start until `resume`; what is in hand goes on.",
               "daybook queues pause"};
  app.footer(no_such_queue);
  queue_request request;
  add_queue(app, request);
  add_rest(app, request);
  parse(app, given, "NAME [options]");
  auto book = open_book(resolve(request.where));
  bool const changed = must_have_queue(book, request.name).pause(request.by.remark());
  say(fmt::format("{}: {}", printable(request.name),
                  changed ? "paused" : "paused before, nothing to do"));
  return exit_code::done;
}

int queues_resume(arguments const& given) {
  CLI::App app{"Ends a pause.", "daybook queues resume"};
  app.footer(no_such_queue);
  queue_request request;
  add_queue(app, request);
  add_rest(app, request);
  parse(app, given, "NAME [options]");
  auto book = open_book(resolve(request.where));
  bool const changed = must_have_queue(book, request.name).resume(request.by.remark());
  say(fmt::format("{}: {}", printable(request.name),
                  changed ? "active" : "not paused, nothing to do"));
  return exit_code::done;
}

}  // namespace command
