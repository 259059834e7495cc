// daybook intakes retry, discard, move, pause, resume: what a person does, with who and why.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "verbs/intakes/intake_verbs.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace command {

namespace {

int set_paused(arguments const& given, CLI::App& app, bool paused) {
  app.footer("\nExit codes: 66 no such intake.");
  intake_request request;
  add_intake(app, request);
  add_reason(app, request.input);
  parse(app, given, "NAME [options]");
  auto found = find_intake(request);
  auto const note = request.input.remark();
  bool const changed = paused ? found.intake.pause(note) : found.intake.resume(note);
  say(fmt::format("{}: {}{}", printable(request.name), changed ? "" : "already ",
                  paused ? "paused" : "active"));
  return exit_code::done;
}

using verb = std::function<bool(daybook::intake&, std::int64_t, daybook::audit_note const&)>;

int change_refused(arguments const& given, CLI::App& app, std::string const& done,
                   verb const& change) {
  app.footer(
      "\nExit codes: 65 one still cannot be taken; 66 no such intake, or none of these "
      "messages is put aside.");
  intake_request request;
  std::vector<std::int64_t> numbers;
  add_intake(app, request);
  app.add_option("NUMBER", numbers, "Which messages, as `refused` prints them")->required();
  add_reason(app, request.input);
  parse(app, given, "NAME NUMBER... [options]");
  auto found = find_intake(request);
  auto const note = request.input.remark();
  std::size_t count = 0;
  for (auto const number : numbers) count += change(found.intake, number, note) ? 1U : 0U;
  say(fmt::format("{}: {} of {} messages {}", printable(request.name), count, numbers.size(),
                  done));
  return count > 0 ? exit_code::done : exit_code::missing;
}

}  // namespace

int intakes_pause(arguments const& given) {
  CLI::App app{"Takes no messages until `resume`.", "daybook intakes pause"};
  return set_paused(given, app, true);
}

int intakes_resume(arguments const& given) {
  CLI::App app{"Ends a pause, or goes on after a stop.", "daybook intakes resume"};
  return set_paused(given, app, false);
}

int intakes_retry(arguments const& given) {
  CLI::App app{"Takes messages that were put aside.", "daybook intakes retry"};
  return change_refused(given, app, "taken",
                        [](daybook::intake& intake, std::int64_t number,
                           daybook::audit_note const& note) { return intake.retry(number, note); });
}

int intakes_discard(arguments const& given) {
  CLI::App app{"Drops messages that were put aside.", "daybook intakes discard"};
  return change_refused(
      given, app, "dropped",
      [](daybook::intake& intake, std::int64_t number, daybook::audit_note const& note) {
        return intake.discard(number, note);
      });
}

int intakes_move(arguments const& given) {
  CLI::App app{"Goes on from another position of a partition.", "daybook intakes move"};
  app.footer(
      "\nMessages before it are not taken; those behind it are, also if they were taken "
      "before.\n\nExit codes: 66 no such intake, or it does not know the partition.");
  intake_request request;
  daybook::broker::log_place place;
  add_intake(app, request);
  app.add_option("TOPIC", place.topic, "The topic, or the stream")->required();
  app.add_option("PARTITION", place.partition, "The partition; 0 of a stream")->required();
  app.add_option("POSITION", place.next, "Of the next message")->required();
  add_reason(app, request.input);
  parse(app, given, "NAME TOPIC PARTITION POSITION [options]");
  auto found = find_intake(request);
  if (!found.intake.move(place, request.input.remark())) {
    throw complaint(exit_code::missing,
                    fmt::format("{} does not know {}/{}, or has moved it meanwhile",
                                printable(request.name), printable(place.topic), place.partition));
  }
  say(fmt::format("{}: goes on at {} of {}/{}", printable(request.name), place.next,
                  printable(place.topic), place.partition));
  return exit_code::done;
}

}  // namespace command
