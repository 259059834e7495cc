// daybook intakes list, show, refused: how far a broker's messages are taken, and which are not.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "verbs/intakes/intake_verbs.hpp"
#include "wire/intakes.hpp"

#include <daybook/intake.hpp>
#include <daybook/words.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace command {

namespace {

std::string queue_of(daybook::intake_options const& options) {
  auto const& queue = options.into.empty() ? options.members : options.into;
  return queue.empty() ? "-" : printable(queue);
}

void print_text(daybook::intake_info const& info) {
  print_field("name", printable(info.name));
  print_field("target", target_word(info.options));
  print_field("queue", queue_of(info.options));
  print_field("lanes", std::to_string(info.options.lanes));
  print_field("page", std::to_string(info.options.page));
  print_field("state", word_of(info.state));
  if (!info.error.empty()) print_field("error", printable(info.error));
  print_field("refused", std::to_string(info.refused));
  for (auto const& one : info.places) {
    print_field("place", fmt::format("{}/{} at {}: {} taken, {} refused, {} skipped, moved {}",
                                     printable(one.topic), one.partition, one.next, one.taken,
                                     one.refused, one.skipped, seconds_of(one.moved)));
  }
}

}  // namespace

void add_intake(CLI::App& app, intake_request& request) {
  app.add_option("NAME", request.name, "The intake")->required();
  add_database_options(app, request.where);
}

opened_intake find_intake(intake_request const& request) {
  auto book = open_book(resolve(request.where));
  auto found = book.intake(request.name);
  if (!found) {
    auto const there = there_are(book.intakes(), request.name);
    throw complaint(exit_code::missing,
                    fmt::format("no intake is named {}; {}", printable(request.name),
                                there.empty() ? "there is none in this book" : there));
  }
  return {std::move(book), *std::move(found)};
}

int intakes_list(arguments const& given) {
  CLI::App app{"Lists the intakes of a book by name.", "daybook intakes list"};
  intake_request request;
  bool as_json = false;
  add_json(app, as_json);
  add_database_options(app, request.where);
  parse(app, given);
  auto const book = open_book(resolve(request.where));
  table rows({"NAME", "TARGET", "QUEUE", "STATE", "TAKEN", "REFUSED", "ERROR"});
  for (auto const& name : book.intakes()) {
    auto const intake = book.intake(name);
    if (!intake) continue;
    auto const info = intake->info();
    if (as_json) {
      print_json(json_of(info));
      continue;
    }
    std::int64_t taken = 0;
    for (auto const& one : info.places) taken += one.taken;
    rows.add({printable(info.name), std::string(target_word(info.options)), queue_of(info.options),
              std::string(word_of(info.state)), info.places.empty() ? "-" : std::to_string(taken),
              std::to_string(info.refused), shortened_error(printable(info.error))});
  }
  if (!as_json) rows.print();
  return exit_code::done;
}

int intakes_show(arguments const& given) {
  CLI::App app{"Shows an intake: its state, how far each partition is, what people changed.",
               "daybook intakes show"};
  app.footer("\nExit codes: 66 no such intake.");
  intake_request request;
  bool as_json = false;
  app.add_flag("--json", as_json, "As one object");
  add_intake(app, request);
  parse(app, given, "NAME [options]");
  auto const found = find_intake(request);
  auto const info = found.intake.info();
  auto const changes = found.intake.changes();
  if (as_json) {
    auto out = json_of(info);
    out["changes"] = json_of(changes);
    print_json(out);
    return exit_code::done;
  }
  print_text(info);
  print_changes(changes);
  return exit_code::done;
}

int intakes_refused(arguments const& given) {
  CLI::App app{"Lists messages that were put aside, and why.", "daybook intakes refused"};
  app.footer("\nExit codes: 66 no such intake.");
  intake_request request;
  daybook::refused_query page;
  bool as_json = false;
  add_json(app, as_json);
  app.add_option("--after", page.after, "Only those behind this number")->type_name("NUMBER");
  app.add_option("--limit", page.limit, "At most so many (100)")->type_name("COUNT");
  add_intake(app, request);
  parse(app, given, "NAME [options]");
  table rows({"NUMBER", "AT", "TOPIC", "POSITION", "ID", "ATTEMPTS", "REASON"});
  for (auto const& one : find_intake(request).intake.refused(page)) {
    if (as_json) {
      print_json(json_of(one));
      continue;
    }
    auto const position =
        one.position ? fmt::format("{}/{}", one.partition, *one.position) : std::string("-");
    rows.add({std::to_string(one.number), seconds_of(one.at), printable(one.topic), position,
              shortened(printable(one.id)), std::to_string(one.attempts), printable(one.reason)});
  }
  if (!as_json) rows.print();
  return exit_code::done;
}

}  // namespace command
