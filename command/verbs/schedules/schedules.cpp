// daybook schedules list, show, ticks: what schedules there are, and what became of their ticks.
#include "cli/dates.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/nearest.hpp"
#include "cli/schedule_words.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "verbs/schedules/schedule_verbs.hpp"
#include "wire/schedules.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace command {

namespace {

using json = nlohmann::ordered_json;

std::string or_dash(std::optional<daybook::timestamp> const& when) {
  return when ? instant(*when) : "-";
}

std::string state_of(daybook::schedule_info const& schedule) {
  auto text = std::string(word_in(schedule_state_words, schedule.state));
  return schedule.overdue ? text + ", overdue since " + seconds_of(*schedule.overdue) : text;
}

/// "process 4711 on web1"
std::string process_of(std::string const& node, std::int64_t pid) {
  return fmt::format("process {} on {}", pid, printable(node));
}

std::string running_of(daybook::schedule_info const& schedule) {
  if (!schedule.running) return "-";
  auto const tick = instant(*schedule.running);
  if (schedule.interrupted)
    return fmt::format("{}, {} since {}", tick, interrupted_word,
                       seconds_of(*schedule.interrupted));
  return fmt::format("{}, {}", tick, process_of(schedule.node, schedule.pid));
}

void print_text(std::vector<daybook::schedule_info> const& all) {
  table rows({"NAME", "CRON", "ZONE", "STATE", "NEXT", "RUNNING", "DECIDED UP TO"});
  for (auto const& one : all) {
    rows.add({printable(one.name), printable(one.cron), printable(one.options.zone), state_of(one),
              or_dash(one.next), running_of(one), instant(one.decided)});
  }
  rows.print();
}

void print_text(daybook::schedule_info const& info) {
  auto const& how = info.options;
  print_field("name", printable(info.name));
  print_field("cron", printable(info.cron));
  print_field("zone", printable(how.zone));
  print_field("state", state_of(info));
  print_field("next", or_dash(info.next));
  print_field("running", running_of(info));
  print_field("decided up to", instant(info.decided));
  print_field("next window", "from " + instant(info.window));
  print_field("gap, fold", fmt::format("{}, {}", word_in(gap_words, how.changes.gap),
                                       word_in(fold_words, how.changes.fold)));
  auto catching = std::string(word_in(catch_up_words, how.catch_up));
  if (how.catch_up == daybook::catch_up::all)
    catching += fmt::format(", at most {}", how.max_ticks);
  if (how.catch_up == daybook::catch_up::skip) catching += ", later than " + text_of(how.grace);
  print_field("catch up", catching);
  print_field("overlap", word_in(overlap_words, how.overlap));
  print_field("attempts",
              fmt::format("{}, after {}, then longer up to {}; {} crashes", how.attempts,
                          text_of(how.backoff), text_of(how.longest_backoff), how.crash_limit));
  print_field("keep", fmt::format("{} ticks", how.keep));
}

std::string tick_of(daybook::tick_info const& one) {
  if (one.count == 1) return instant(one.at);
  return fmt::format("{} to {} ({})", instant(one.first), instant(one.at), one.count);
}

std::string standing_of(daybook::tick_info const& one) {
  auto text = std::string(word_in(tick_state_words, one.state));
  if (one.interrupted)
    text = fmt::format("{} since {}", interrupted_word, seconds_of(*one.interrupted));
  if (!one.interrupted && !one.node.empty()) text += ", " + process_of(one.node, one.pid);
  if (one.due) text += " at " + seconds_of(*one.due);
  return one.by_hand ? text + ", by hand" : text;
}

void print_text(std::vector<daybook::tick_info> const& all) {
  table rows({"TICK", "STATE", "WINDOW", "LAUNCHED", "ENDED", "FAILURES", "CRASHES", "REASON"});
  for (auto const& one : all) {
    bool const skipped = one.state == daybook::tick_state::skipped;
    rows.add(
        {tick_of(one), standing_of(one),
         skipped ? "-" : fmt::format("{} to {}", instant(one.window.from), instant(one.window.to)),
         seconds_of(one.launched), seconds_of(one.ended), std::to_string(one.failures),
         std::to_string(one.crashes), printable(one.reason)});
  }
  rows.print();
}

}  // namespace

daybook::schedule must_have(daybook::book const& book, std::string const& name) {
  daybook::check_name("schedule name", name);
  if (auto found = book.schedule(name)) return std::move(*found);
  std::vector<std::string> names;
  for (auto const& one : book.schedules()) names.push_back(one.name);
  throw complaint(exit_code::missing,
                  fmt::format("no such schedule: {}{}; see daybook schedules list", printable(name),
                              did_you_mean(name, names)));
}

int schedules_list(arguments const& given) {
  CLI::App app{"Lists schedules by name.", "daybook schedules list"};
  database_options where;
  bool as_json = false;
  add_json(app, as_json);
  add_database_options(app, where);
  parse(app, given);
  auto const found = open_book(resolve(where)).schedules();
  if (as_json) {
    for (auto const& one : found) print_json(json_of(one));
  } else {
    print_text(found);
  }
  return exit_code::done;
}

int schedules_show(arguments const& given) {
  CLI::App app{"Shows one schedule: how it is set, what it does, and what people changed.",
               "daybook schedules show"};
  app.footer("\nExit codes: 66 when there is no such schedule.");
  database_options where;
  std::string name;
  bool as_json = false;
  app.add_option("NAME", name, "The schedule")->required();
  app.add_flag("--json", as_json, "One object, on one line");
  add_database_options(app, where);
  parse(app, given, "NAME [options]");
  auto const book = open_book(resolve(where));
  auto const info = must_have(book, name).info();
  auto const changes = book.changes(daybook::process{name}, {});
  if (as_json) {
    auto out = json_of(info);
    out["changes"] = command::json_of(changes);
    print_json(out);
  } else {
    print_text(info);
    print_changes(changes);
  }
  return exit_code::done;
}

int schedules_ticks(arguments const& given) {
  CLI::App app{"Lists the ticks of a schedule, the newest first: launched, due again, or skipped.",
               "daybook schedules ticks"};
  app.footer("\nExit codes: 66 when there is no such schedule.");
  database_options where;
  std::string name;
  std::string state;
  std::string before;
  daybook::ticks_query query;
  bool as_json = false;
  app.add_option("NAME", name, "The schedule")->required();
  app.add_option("--state", state, "Only these: due, running, done, failed or skipped")
      ->type_name("STATE");
  add_limit(app, query.limit);
  app.add_option("--before", before, "Only those before this one: the next page")
      ->type_name("TICK");
  add_json(app, as_json);
  add_database_options(app, where);
  parse(app, given, "NAME [options]");
  if (app.count("--state") > 0) {
    query.state = value_in(tick_state_words, state);
    if (!query.state) {
      throw complaint(exit_code::usage,
                      fmt::format("schedules ticks: --state {}: no state; there are {}",
                                  printable(state), listed(tick_state_words)));
    }
  }
  if (app.count("--before") > 0) query.before = instant_from(before);
  auto const book = open_book(resolve(where));
  auto const found = must_have(book, name).ticks(query);
  if (as_json) {
    for (auto const& one : found) print_json(json_of(one));
  } else {
    print_text(found);
  }
  return exit_code::done;
}

}  // namespace command
