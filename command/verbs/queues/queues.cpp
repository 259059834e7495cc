// daybook queues list, show, stats: what queues there are, how they are set, and what is in them.
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

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace command {

namespace {

using json = nlohmann::ordered_json;
using std::chrono::milliseconds;

milliseconds ms(std::chrono::microseconds length) {
  return std::chrono::floor<milliseconds>(length);
}

std::string every(daybook::queue_options const& options) {
  return options.period.count() == 0 ? "once" : text_of(ms(options.period));
}
std::string limit_of(daybook::queue_options const& options) {
  return options.running_limit == 0 ? "-" : std::to_string(options.running_limit);
}
std::string rate_of(daybook::queue_options const& options) {
  return options.rate ? text_of(*options.rate) : "-";
}
std::string_view state_of(daybook::queue_info const& info) {
  return info.paused ? "paused" : "active";
}

void print_text(std::vector<daybook::queue_info> const& all) {
  table rows({"NAME", "EVERY", "MODE", "STATE", "ATTEMPTS", "LIMIT", "RATE", "ROUND"});
  for (auto const& one : all) {
    auto const& how = one.options;
    rows.add({printable(one.name), every(how), std::string(daybook::word_of(how.mode)),
              std::string(state_of(one)), std::to_string(how.attempts), limit_of(how), rate_of(how),
              seconds_of(one.round)});
  }
  rows.print();
}

void print_options(daybook::queue_info const& info) {
  auto const& how = info.options;
  print_field("name", printable(info.name));
  print_field("state", state_of(info));
  print_field("every",
              how.period.count() == 0
                  ? "once"
                  : fmt::format("{}, {}, rounded up to {}", every(how),
                                word_in(cadence_words, how.period_anchor), text_of(ms(how.grain))));
  print_field("mode", daybook::word_of(how.mode));
  print_field("attempts",
              fmt::format("{}, after {}, then longer up to {}; {} crashes", how.attempts,
                          text_of(how.backoff), text_of(how.longest_backoff), how.crash_limit));
  print_field("limit, rate", fmt::format("{}, {}", limit_of(how), rate_of(how)));
  if (how.rate && how.burst > 1) {
    print_field("burst", fmt::format("{} at once after a pause", how.burst));
  }
  if (how.rounds) {
    print_field("round", fmt::format("{}; new members: {}", seconds_of(info.round),
                                     word_in(on_new_words, how.new_member_policy)));
  }
  if (how.in_order) print_field("order", "keys that agree up to their last /: one after the other");
  if (how.done_retention.count() > 0) {
    print_field("forgets", fmt::format("what is done, after {}", text_of(ms(how.done_retention))));
  }
  print_field("history",
              fmt::format("{}, {}", text_of(milliseconds(how.retention)),
                          how.record_every_outcome ? "every outcome"
                                                   : "failures and remarks each, else together"));
  print_field("segment", std::to_string(how.segment));
}

std::string with_instant(std::int64_t count, std::string_view word,
                         std::optional<daybook::timestamp> const& when) {
  return when ? fmt::format("{}, {} {}", count, word, seconds_of(*when)) : std::to_string(count);
}

void print_counts(daybook::queue_counts const& counts) {
  print("\n");
  print_field("members", std::to_string(counts.members));
  print_field("due", with_instant(counts.due, "the oldest since", counts.oldest_due));
  if (counts.overdue)
    print_field("overdue", "nobody takes any, since " + seconds_of(*counts.overdue));
  print_field("running", fmt::format("{} in {} claims{}", counts.running, counts.claims,
                                     counts.abandoned == 0
                                         ? ""
                                         : fmt::format("; {} abandoned, for their process died",
                                                       counts.abandoned)));
  print_field("waiting", with_instant(counts.waiting, "the next due at", counts.next_due));
  print_field("succeeded", std::to_string(counts.succeeded));
  print_field("failed", std::to_string(counts.failed));
  print_field("dead", std::to_string(counts.dead));
  print_field("unknown", std::to_string(counts.unknown));
  print_field("suspect", std::to_string(counts.quarantined));
  print_field("discarded", std::to_string(counts.discarded));
}

/// Of the queue, with what is in it.
std::string state_of(daybook::queue_info const& queue, daybook::queue_counts const& counts) {
  if (counts.overdue) return "overdue since " + seconds_of(*counts.overdue);
  return std::string(state_of(queue));
}

void add_row(table& table, daybook::queue_info const& info, daybook::queue_counts const& counts) {
  table.add({printable(info.name), state_of(info, counts), std::to_string(counts.members),
             std::to_string(counts.due), seconds_of(counts.oldest_due),
             std::to_string(counts.running - counts.abandoned), std::to_string(counts.abandoned),
             std::to_string(counts.succeeded), std::to_string(counts.failed),
             std::to_string(counts.dead), std::to_string(counts.unknown),
             std::to_string(counts.quarantined), std::to_string(counts.discarded),
             seconds_of(counts.next_due)});
}

}  // namespace

daybook::queue must_have_queue(daybook::book const& book, std::string const& name) {
  daybook::check_name("queue name", name);
  if (auto found = book.queue(name)) return std::move(*found);
  auto const there = there_are(book.queues(), name);
  throw complaint(exit_code::missing,
                  fmt::format("there is no queue '{}'{}", printable(name),
                              there.empty() ? ", nor any other; make it with: daybook queues make"
                                            : "; " + there));
}

int queues_list(arguments const& given) {
  CLI::App app{"Lists queues by name.", "daybook queues list"};
  database_options where;
  bool as_json = false;
  add_json(app, as_json);
  add_database_options(app, where);
  parse(app, given);
  auto const book = open_book(resolve(where));
  std::vector<daybook::queue_info> found;
  for (auto const& name : book.queues()) found.push_back(must_have_queue(book, name).info());
  if (as_json) {
    for (auto const& one : found) print_json(json_of(one));
  } else {
    print_text(found);
  }
  return exit_code::done;
}

int queues_show(arguments const& given) {
  CLI::App app{"Shows one queue: how it is set, what is in it, and what people changed.",
               "daybook queues show"};
  app.footer(no_such_queue);
  database_options where;
  std::string name;
  bool as_json = false;
  app.add_option("NAME", name, "The queue")->required();
  app.add_flag("--json", as_json, "One object, on one line");
  add_database_options(app, where);
  parse(app, given, "NAME [options]");
  auto const book = open_book(resolve(where));
  auto const queue = must_have_queue(book, name);
  auto const info = queue.info();
  auto const counts = queue.counts();
  auto const watch = queue.followed();
  auto const changes = queue.changes();
  if (as_json) {
    auto out = json_of(info);
    out["counts"] = command::json_of(counts);
    out["follows"] = watch ? command::json_of(watch->info()) : json();
    out["changes"] = command::json_of(changes);
    print_json(out);
  } else {
    print_options(info);
    print_field("follows", watch ? text_of(watch->info()) : "no table");
    print_counts(counts);
    print_changes(changes);
  }
  return exit_code::done;
}

int queues_stats(arguments const& given) {
  CLI::App app{"Counts the tasks of one queue, or of each, by what has become of them.",
               "daybook queues stats"};
  app.footer(
      "\nOf what is due: since when the oldest has been. Reads every row of a queue's segments, a\n"
      "thousandth of its members in the best case.\n"
      "\nExit codes: 66 when there is no such queue.");
  database_options where;
  std::string name;
  bool as_json = false;
  app.add_option("NAME", name, "The queue (else each)");
  add_json(app, as_json);
  add_database_options(app, where);
  parse(app, given, "[NAME] [options]");
  auto const book = open_book(resolve(where));
  auto const names = app.count("NAME") > 0 ? std::vector<std::string>{name} : book.queues();
  table rows({"NAME", "STATE", "MEMBERS", "DUE", "OLDEST DUE", "RUNNING", "ABANDONED", "SUCCEEDED",
              "FAILED", "DEAD", "UNKNOWN", "SUSPECT", "DISCARDED", "NEXT DUE"});
  for (auto const& one : names) {
    auto const queue = must_have_queue(book, one);
    auto const info = queue.info();
    auto const counts = queue.counts();
    if (as_json) {
      json out{{"name", one}, {"paused", info.paused}};
      out.update(command::json_of(counts));
      print_json(out);
    } else {
      add_row(rows, info, counts);
    }
  }
  if (!as_json) rows.print();
  return exit_code::done;
}

}  // namespace command
