// daybook tasks list, show: how tasks stand, and how one once ended.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/queue_words.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "verbs/queues/queue_verbs.hpp"
#include "wire/queues.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace command {

namespace {

using json = nlohmann::ordered_json;

/// No state of its own: waiting, and failed before at this turn.
constexpr std::string_view retrying_word = "retrying";

/// For people: of those that wait, whether they have failed at this turn.
std::string_view state_word(daybook::task_info const& info) {
  bool const retrying = info.state == daybook::task_state::waiting && info.attempts > 0;
  return retrying ? retrying_word : daybook::word_of(info.state);
}

void print_text(std::vector<daybook::task_info> const& all) {
  table rows(
      {"ID", "KEY", "STATE", "PRIORITY", "DUE", "TURN", "ATTEMPTS", "CRASHES", "HOLDER", "REMARK"});
  for (auto const& one : all) {
    rows.add({std::to_string(one.id), printable(one.key), std::string(state_word(one)),
              std::to_string(one.priority), seconds_of(one.due), seconds_of(one.turn),
              std::to_string(one.attempts), std::to_string(one.crashes),
              one.holder.empty() ? "-" : printable(one.holder), shortened_error(one.remark)});
  }
  rows.print();
}

void print_text(daybook::task_info const& info) {
  print_field("key", printable(info.key));
  print_field("id", std::to_string(info.id));
  print_field("state", state_word(info));
  print_field("due", seconds_of(info.due));
  print_field("turn", instant(info.turn));
  print_field("priority", std::to_string(info.priority));
  print_field("attempts",
              fmt::format("{} failed at this turn; {} crashes", info.attempts, info.crashes));
  if (!info.holder.empty()) {
    print_field("in hand", fmt::format("of {}, claim {}, since {}", printable(info.holder),
                                       info.claim, seconds_of(info.started)));
  }
  if (!info.remark.empty()) print_field("last remark", printable(info.remark));
  if (info.payload) print_field("payload", printable(*info.payload));
}

void print_text(std::vector<daybook::task_outcome> const& all) {
  if (all.empty()) return;
  print("\noutcomes, the newest first:\n");
  table rows({"  STATE", "ATTEMPT", "TURN", "STARTED", "FINISHED", "REMARK"});
  for (auto const& one : all) {
    rows.add({fmt::format("  {}", daybook::word_of(one.state)), std::to_string(one.attempts),
              seconds_of(one.turn), seconds_of(one.started), seconds_of(one.finished),
              printable(one.remark)});
  }
  rows.print();
}

void put_state(daybook::tasks_query& query, std::string const& text) {
  query.retrying = text == retrying_word;
  auto const found =
      query.retrying ? daybook::task_state::waiting : value_in(task_state_words, text);
  if (!found) {
    throw complaint(exit_code::usage,
                    fmt::format("tasks list: --state {}: no state; there are {}, {}",
                                printable(text), listed(task_state_words), retrying_word));
  }
  query.state = *found;
}

}  // namespace

int tasks_list(arguments const& given) {
  CLI::App app{"Lists the tasks of a queue that are in a state, by id.", "daybook tasks list"};
  app.footer(no_such_queue);
  database_options where;
  std::string name;
  std::string state = "waiting";
  daybook::tasks_query query;
  bool as_json = false;
  app.add_option("QUEUE", name, "The queue")->required();
  app.add_option(
         "--state", state,
         "Those that are waiting, retrying (waiting, and failed before at this turn), running, "
         "succeeded, failed, dead, unknown, suspect or discarded (waiting)")
      ->type_name("STATE");
  add_limit(app, query.limit);
  app.add_option("--after", query.after, "Only those after this one: the next page")
      ->type_name("ID")
      ->check(CLI::NonNegativeNumber);
  add_json(app, as_json);
  add_database_options(app, where);
  parse(app, given, "QUEUE [options]");
  put_state(query, state);
  auto const book = open_book(resolve(where));
  auto const found = must_have_queue(book, name).tasks(query);
  if (as_json) {
    for (auto const& one : found) print_json(json_of(one));
  } else {
    print_text(found);
    if (std::cmp_equal(found.size(), query.limit)) {
      say(fmt::format("there may be more: --after {}", found.back().id));
    }
  }
  return exit_code::done;
}

int tasks_show(arguments const& given) {
  CLI::App app{"Shows one task: how it stands, how it once ended, and what people asked for.",
               "daybook tasks show"};
  app.footer("\nExit codes: 66 when there is no such queue, or no such key in it.");
  database_options where;
  std::string name;
  std::string key;
  int limit = 20;
  bool as_json = false;
  app.add_option("QUEUE", name, "The queue")->required();
  app.add_option("KEY", key, "Which of its tasks")->required();
  add_limit(app, limit, "outcomes");
  app.add_flag("--json", as_json, "One object, on one line");
  add_database_options(app, where);
  parse(app, given, "QUEUE KEY [options]");
  daybook::key const of{key};
  auto const book = open_book(resolve(where));
  auto const queue = must_have_queue(book, name);
  auto const found = queue.find(of);
  auto const changes = queue.changes(of);
  if (!found) {
    std::string last;
    if (!changes.empty() && changes.back().action == "remove") {
      last = fmt::format("; {} removed it at {}", printable(changes.back().actor),
                         seconds_of(changes.back().at));
    }
    throw complaint(exit_code::missing,
                    fmt::format("{}: no such key: {}{}", printable(name), printable(key), last));
  }
  auto const outcomes = queue.outcomes(of, limit);
  if (as_json) {
    auto out = json_of(*found);
    out["outcomes"] = json_of(outcomes);
    out["changes"] = command::json_of(changes);
    print_json(out);
  } else {
    print_text(*found);
    print_text(outcomes);
    print_changes(changes);
  }
  return exit_code::done;
}

}  // namespace command
