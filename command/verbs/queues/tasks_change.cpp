// daybook tasks run-now, retry, discard, resolve: what a person asks for, done by the next claim.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/operator_input.hpp"
#include "cli/progress_bar.hpp"
#include "cli/queue_words.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "verbs/queues/queue_verbs.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace command {

namespace {

using daybook::task_request;
using daybook::task_state;

struct tasks_request {
  tasks_request(std::string_view named, task_request asked) : verb(named), what(asked) {}

  std::string_view verb;
  task_request what;
  std::string queue;
  std::vector<std::string> keys;
  std::string state;
  bool all = false;
  operator_input by;
  database_options where;
};

/// What can be asked for of many, by their state.
std::vector<task_state> states_for(task_request request) {
  switch (request) {
    case task_request::run_now: return {task_state::failed, task_state::discarded};
    case task_request::retry:
      return {task_state::failed, task_state::dead, task_state::unknown, task_state::quarantined,
              task_state::discarded};
    case task_request::discard:
      return {task_state::failed, task_state::dead, task_state::unknown, task_state::quarantined};
    case task_request::was_done:
    case task_request::was_not_done: break;
  }
  return {task_state::unknown};
}

std::string words_of(std::vector<task_state> const& states) {
  std::vector<std::string_view> words;
  for (auto const one : states) words.push_back(daybook::word_of(one));
  return fmt::format("{}", fmt::join(words, ", "));
}

void add_which(CLI::App& app, tasks_request& request) {
  app.add_option("QUEUE", request.queue, "The queue")->required();
  auto* const keys = app.add_option("KEY", request.keys, "Which of its tasks");
  auto* const state = app.add_option("--state", request.state,
                                     "Instead of keys, with --all: those that are " +
                                         words_of(states_for(request.what)))
                          ->type_name("STATE")
                          ->excludes(keys);
  app.add_flag("--all", request.all, "Every one of them")->needs(state);
  add_yes(app, request.by);
  add_reason(app, request.by);
  add_database_options(app, request.where);
}

/// The state that is meant; none: keys were given.
std::optional<task_state> state_of(tasks_request const& given) {
  auto const named = !given.state.empty();
  if (named == !given.keys.empty() || named != given.all) {
    throw complaint(exit_code::usage,
                    fmt::format("{}: say which: KEY..., or --state STATE --all", given.verb));
  }
  if (!named) return {};
  auto const known = states_for(given.what);
  auto const found = std::find_if(known.begin(), known.end(), [&](task_state one) {
    return daybook::word_of(one) == given.state;
  });
  if (found != known.end()) return *found;
  throw complaint(exit_code::usage,
                  fmt::format("{}: --state {}: not of those; there are {}", given.verb,
                              printable(given.state), words_of(known)));
}

std::string_view does(task_request request) {
  switch (request) {
    case task_request::run_now: return "is due with the next claim";
    case task_request::retry: return "is tried again with the next claim";
    case task_request::discard: return "is given up with the next claim";
    case task_request::was_done: return "counts as done with the next claim";
    case task_request::was_not_done: break;
  }
  return "is not done, and tried again with the next claim";
}

/// Why asking for it would change nothing; empty: it would.
std::string in_the_way(task_request request, daybook::task_info const& info) {
  bool const resolves = request == task_request::was_done || request == task_request::was_not_done;
  if (resolves && info.state != task_state::unknown) {
    return fmt::format("its outcome is not unknown, it is {}", daybook::word_of(info.state));
  }
  bool const waits = info.state == task_state::dead || info.state == task_state::unknown ||
                     info.state == task_state::discarded;
  if (request == task_request::run_now && waits && !info.due) {
    return fmt::format("it is {} and waits for a person; use tasks retry",
                       daybook::word_of(info.state));
  }
  return {};
}

/// What is done before it, for people who wait for it.
std::string behind(daybook::queue const& queue, daybook::key const& key, task_request request) {
  if (request != task_request::run_now && request != task_request::retry) return {};
  auto const count = queue.in_front(key);
  if (count == 0) return {};
  return fmt::format(", behind {} of a higher priority or asked for sooner", count);
}

int ask_each(daybook::queue& queue, tasks_request const& given) {
  std::vector<daybook::key> keys;
  for (auto const& one : given.keys) keys.emplace_back(one);
  auto const who = given.by.remark();
  int code = exit_code::done;
  for (auto const& key : keys) {
    auto const found = queue.find(key);
    auto why_not = found ? in_the_way(given.what, *found) : std::string("no such key");
    auto const in_front = why_not.empty() ? behind(queue, key, given.what) : std::string();
    if (why_not.empty() && !queue.ask(key, given.what, who)) why_not = "no such key";
    if (!why_not.empty()) code = exit_code::missing;
    say(fmt::format("{}: {}: {}{}", printable(queue.name()), printable(key.str()),
                    why_not.empty() ? does(given.what) : why_not, in_front));
  }
  return code;
}

int ask_all(daybook::queue& queue, tasks_request const& given, task_state state) {
  progress_bar bar(printable(queue.name()));
  auto const count =
      queue.ask(state, given.what, given.by.remark(), [&](std::int64_t so_far) { bar.at(so_far); });
  bar.wipe();
  say(fmt::format("{}: {} tasks that are {}: each {}", printable(queue.name()), count,
                  daybook::word_of(state), does(given.what)));
  return exit_code::done;
}

/// `asks`: also for keys, not only for all of them.
int ask(tasks_request const& given, bool asks) {
  auto const state = state_of(given);
  auto book = open_book(resolve(given.where));
  auto queue = must_have_queue(book, given.queue);
  auto const name = printable(given.queue);
  if (state) {
    make_sure(
        given.by, given.verb,
        fmt::format("{}: every task that is {} {}: sure?", name, given.state, does(given.what)));
    return ask_all(queue, given, *state);
  }
  if (asks) {
    make_sure(
        given.by, given.verb,
        fmt::format(
            "{}: {}{} {}: sure?", name, printable(given.keys[0]),
            given.keys.size() > 1 ? fmt::format(" and {} more: each", given.keys.size() - 1) : "",
            does(given.what)));
  }
  return ask_each(queue, given);
}

constexpr auto codes =
    "\nDone by the next claim of any worker, and of one in hand after that.\n"
    "\nExit codes: 66 no such queue, or of one of the keys there is nothing to ask for; the "
    "others\n"
    "are asked for.";

constexpr auto usage = "QUEUE KEY... | QUEUE --state STATE --all [options]";

int change_priority(tasks_request const& given, int priority) {
  auto book = open_book(resolve(given.where));
  auto queue = must_have_queue(book, given.queue);
  auto const who = given.by.remark();
  int code = exit_code::done;
  for (auto const& one : given.keys) {
    bool const there = queue.set_priority(daybook::key(one), priority, who);
    if (!there) code = exit_code::missing;
    say(fmt::format(
        "{}: {}: {}", printable(given.queue), printable(one),
        there ? fmt::format("has priority {} with the next claim", priority) : "no such key"));
  }
  return code;
}

}  // namespace

int tasks_priority(arguments const& given) {
  CLI::App app{"Gives tasks another priority, from now on.", "daybook tasks priority"};
  app.footer(codes);
  tasks_request request("tasks priority", task_request::run_now);
  int priority = 0;
  app.add_option("QUEUE", request.queue, "The queue")->required();
  app.add_option("KEY", request.keys, "Which of its tasks")->required();
  app.add_option("--to", priority, "0 (first) to 9")
      ->type_name("N")
      ->required()
      ->check(CLI::Range(0, 9));
  add_reason(app, request.by);
  add_database_options(app, request.where);
  parse(app, given, "QUEUE KEY... --to N [options]");
  return change_priority(request, priority);
}

int tasks_run_now(arguments const& given) {
  CLI::App app{"Makes tasks due now, before all others of their priority.",
               "daybook tasks run-now"};
  app.footer(codes);
  tasks_request request("tasks run-now", task_request::run_now);
  add_which(app, request);
  parse(app, given, usage);
  return ask(request, false);
}

int tasks_retry(arguments const& given) {
  CLI::App app{"The same as run-now with nothing counted, also for those that wait for a person.",
               "daybook tasks retry"};
  app.footer(codes);
  tasks_request request("tasks retry", task_request::retry);
  add_which(app, request);
  parse(app, given, usage);
  return ask(request, false);
}

int tasks_discard(arguments const& given) {
  CLI::App app{"Gives tasks up: for this turn, or for good in a queue without a period.",
               "daybook tasks discard"};
  app.footer(codes);
  tasks_request request("tasks discard", task_request::discard);
  add_which(app, request);
  parse(app, given, usage);
  return ask(request, true);
}

int tasks_resolve(arguments const& given) {
  CLI::App app{"Says how tasks went whose outcome is unknown.", "daybook tasks resolve"};
  app.footer(codes);
  tasks_request request("tasks resolve", task_request::was_done);
  bool done = false;
  bool not_done = false;
  add_which(app, request);
  auto* const yes = app.add_flag("--done", done, "They happened: they are not done again");
  app.add_flag("--not-done", not_done, "They did not happen: they are tried again")->excludes(yes);
  parse(app, given, "QUEUE KEY... --done|--not-done [options]");
  if (done == not_done) {
    throw complaint(exit_code::usage, "tasks resolve: say --done or --not-done");
  }
  if (not_done) request.what = task_request::was_not_done;
  return ask(request, true);
}

}  // namespace command
