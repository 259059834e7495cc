// daybook schedules next: when ticks come, in UTC and as clocks show it.
#include "cli/dates.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/nearest.hpp"
#include "cli/schedule_words.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "config/settings.hpp"
#include "wire/schedules.hpp"

#include <daybook/book.hpp>
#include <daybook/cron.hpp>
#include <daybook/zone.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace command {

namespace {

/// When something comes.
struct timetable {
  daybook::cron cron = "* * * * *";
  std::string zone = "UTC";
  daybook::clock_changes changes;
};

struct ticks_request {
  std::string name;
  timetable what;
  std::string from;
  int count = 10;
  bool as_json = false;
  bool by_name = false;
  database_options where;
};

ticks_request read_ticks(arguments const& given) {
  ticks_request out;
  std::string cron;
  CLI::App app{"Prints when a schedule's ticks come, or those of a cron expression.",
               "daybook schedules next"};
  app.footer(
      "\nA name is looked up in the book, then in daybook.toml; for --cron there need be neither.\n"
      "\nExit codes: 65 the expression, the zone or an instant, 66 no such schedule.");
  auto* const name = app.add_option("NAME", out.name, "The schedule");
  auto* const text = app.add_option("--cron", cron, "An expression instead of NAME");
  app.add_option("--zone", out.what.zone, "With --cron: an IANA time zone (UTC)")
      ->type_name("ZONE")
      ->needs(text);
  add_word(app, "--gap", out.what.changes.gap, gap_words,
           "A time that clocks skip: after or skip (after)");
  add_word(app, "--fold", out.what.changes.fold, fold_words,
           "A time that comes twice: first, second or both (first)");
  app.add_option("--from", out.from, "Those after this instant (now)")->type_name("INSTANT");
  app.add_option("--count", out.count, "So many (10)")->check(CLI::Range(1, 100'000));
  add_json(app, out.as_json);
  add_database_options(app, out.where);
  parse(app, given, "NAME | --cron EXPR [--zone ZONE] [options]");
  out.by_name = name->count() > 0;
  if (out.by_name == (text->count() > 0)) {
    throw complaint(exit_code::usage, "schedules next: say a NAME or --cron, one of them");
  }
  if (out.by_name && app.count("--gap") + app.count("--fold") > 0) {
    throw complaint(exit_code::usage, "schedules next: --gap and --fold go with --cron");
  }
  // Drawn from no name, as nobody gave one.
  if (!out.by_name) out.what.cron = daybook::cron::parse(cron).hashed({});
  return out;
}

std::optional<timetable> in_book(ticks_request const& request) {
  auto const book = open_book(resolve(request.where));
  auto const found = book.schedule(request.name);
  if (!found) return {};
  auto const info = found->info();
  return timetable{daybook::cron::parse(info.cron).hashed(info.name), info.options.zone,
                   info.options.changes};
}

std::optional<timetable> in_file(ticks_request const& request) {
  auto const file = read_settings();
  auto const found = std::find_if(file.schedules.begin(), file.schedules.end(),
                                  [&](auto const& one) { return one.name == request.name; });
  if (found == file.schedules.end()) return {};
  say(fmt::format("{}: as it is in {}, not in the book", printable(request.name), usual_settings));
  return timetable{found->cron.hashed(found->name), found->options.zone, found->options.changes};
}

timetable looked_up(ticks_request const& request) {
  daybook::check_name("schedule name", request.name);
  try {
    if (auto found = in_book(request)) return *found;
  } catch (complaint const& e) {
    if (e.code() != exit_code::configuration) throw;
    if (auto found = in_file(request)) return *found;
    throw;
  } catch (daybook::error const& e) {
    auto const kind = e.kind();
    if (kind != daybook::error_code::unreachable && kind != daybook::error_code::configuration)
      throw;
    if (auto found = in_file(request)) return *found;
    throw;
  }
  if (auto found = in_file(request)) return *found;
  std::vector<std::string> names;
  for (auto const& one : open_book(resolve(request.where)).schedules()) names.push_back(one.name);
  for (auto const& one : read_settings().schedules) names.push_back(one.name);
  throw complaint(
      exit_code::missing,
      fmt::format("no such schedule: {}, in the book or in {}{}; see daybook schedules "
                  "list",
                  printable(request.name), usual_settings, did_you_mean(request.name, names)));
}

}  // namespace

int schedules_next(arguments const& given) {
  auto const what = read_ticks(given);
  auto const which = what.by_name ? looked_up(what) : what.what;
  daybook::zone const zone(which.zone);
  auto after = what.from.empty()
                   ? std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now())
                   : instant_from(what.from);
  table rows({"TICK", "LOCAL", "", "ZONE"});
  for (int i = 0; i < what.count; ++i) {
    auto const tick = which.cron.next(after, zone, which.changes);
    if (!tick) break;
    after = *tick;
    auto const wall = zone.to_local(*tick);
    if (what.as_json) {
      print_json(json_of_coming(*tick, zone));
    } else {
      rows.add({seconds_of(*tick), local_text(wall), offset_text(wall.offset), wall.abbreviation});
    }
  }
  if (!what.as_json) rows.print();
  return exit_code::done;
}

}  // namespace command
