// daybook holders: which processes work in the book, and what each has in hand.
#include "verbs/book/holder_text.hpp"

#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "wire/book.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace command {

namespace {

using json = nlohmann::ordered_json;

std::string text_of(daybook::held_work const& one) {
  if (one.kind == daybook::work_kind::run) {
    return one.key == "-" ? printable(one.name) : printable(one.name) + " " + printable(one.key);
  }
  return fmt::format("{} of queue {}", one.tasks, printable(one.name));
}

}  // namespace

std::string text_of(std::vector<daybook::held_work> const& all) {
  constexpr std::size_t most = 5;
  std::string out;
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i) {
    out += (i == 0 ? "" : ", ") + text_of(all[i]);
  }
  if (all.size() > most) out += fmt::format(", and {} more", all.size() - most);
  return out.empty() ? "-" : out;
}

int holders(arguments const& given) {
  CLI::App app{
      "Lists the processes that work in the book, the oldest first: where each is, when it "
      "renewed\n"
      "its lease last, and the runs and tasks that it has in hand.",
      "daybook holders"};
  app.footer(
      "\nStates: alive; late (it has not renewed for two thirds of its lease); dead (its lease is\n"
      "over, and others take its work over); ended. Those that died or ended are listed while\n"
      "something is left in their name.");
  database_options where;
  daybook::holders_query query;
  bool as_json = false;
  app.add_flag("--all", query.all, "Also those that ended or died before, until runs prune");
  add_json(app, as_json);
  add_database_options(app, where);
  parse(app, given);
  table rows({"NODE", "PID", "STATE", "SINCE", "RENEWED", "ENDED", "IN HAND"});
  for (auto const& one : open_book(resolve(where)).holders(query)) {
    if (as_json) {
      print_json(json_of(one));
    } else {
      rows.add({printable(one.node), std::to_string(one.pid),
                std::string(daybook::word_of(one.state)), seconds_of(one.started),
                seconds_of(one.renewed), seconds_of(one.ended), text_of(one.work)});
    }
  }
  if (!as_json) rows.print();
  return exit_code::done;
}

}  // namespace command
