// daybook aggregates close, settle, revert, remove: what becomes of parents and rows, with who and
// why. Each of several is a transaction of its own; one that is refused does not stop the others.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "verbs/aggregates/aggregate_verbs.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace command {

namespace {

using daybook::settling;

constexpr auto codes =
    "\nExit codes: 0 also where it was so before; of several the first that is not 0: 1 its rows\n"
    "are not what it says (see verify), 65 its state does not allow it, 66 there is none.";

struct parent_request {
  aggregate_request of;
  std::vector<std::string> keys;
  bool as_json = false;
};

using verb_of_one = settling (daybook::aggregation::*)(std::string_view,
                                                       daybook::audit_note const&);

std::string text_of(settling way, std::string_view did) {
  switch (way) {
    case settling::done: return std::string(did);
    case settling::before: return fmt::format("{} before, nothing to do", did);
    case settling::none: return "there is none";
    case settling::open: return "refused: it is open; close it first";
    case settling::closed: return "refused: it is closed; no row of it is freed alone";
    case settling::settled: return "refused: it is settled, which stays";
    case settling::voided: return "refused: it is void, for it was reverted";
    case settling::differs: return "refused: its rows are not what it says; see verify";
  }
  return {};
}

int code_of(settling way) {
  switch (way) {
    case settling::done:
    case settling::before: return exit_code::done;
    case settling::none: return exit_code::missing;
    case settling::differs: return exit_code::differs;
    case settling::open:
    case settling::closed:
    case settling::settled:
    case settling::voided: break;
  }
  return exit_code::bad_data;
}

void tell(parent_request const& request, std::string_view key, settling way, std::string_view did) {
  if (request.as_json) {
    print_json({{"key", key}, {"result", daybook::word_of(way)}});
  } else {
    say(fmt::format("{}: {}: {}", printable(request.of.name), printable(key), text_of(way, did)));
  }
}

int do_each(parent_request const& request, opened_aggregate& aggregate, verb_of_one verb,
            std::string_view did) {
  int first = exit_code::done;
  auto const by = request.of.by.remark();
  for (auto const& key : request.keys) {
    auto const how = (aggregate.made.*verb)(key, by);
    tell(request, key, how, did);
    if (first == exit_code::done) first = code_of(how);
  }
  return first;
}

void add_common(CLI::App& app, parent_request& request) {
  app.add_flag("--json", request.as_json, "One object for each");
  add_reason(app, request.of.by);
  add_aggregate(app, request.of);
}

std::string sure(parent_request const& request, std::string_view question) {
  auto const& keys = request.keys;
  return fmt::format("{}: {}{}: {}", printable(request.of.name), printable(keys.front()),
                     keys.size() == 1 ? "" : fmt::format(" and {} more", keys.size() - 1),
                     question);
}

/// What cannot be taken back.
struct grave_verb {
  std::string_view name;
  char const* summary;
  std::string_view key;  ///< what it is the key of
  std::string_view question;
  verb_of_one work;
  std::string_view did;
};

int do_grave(grave_verb const& verb, arguments const& given) {
  auto const name = fmt::format("aggregates {}", verb.name);
  CLI::App app{verb.summary, "daybook " + name};
  app.footer(codes);
  parent_request request;
  add_yes(app, request.of.by);
  add_common(app, request);
  app.add_option(std::string(verb.key), request.keys, "Which, one or several")->required();
  parse(app, given, fmt::format("NAME {}... [options]", verb.key));
  auto of = open_aggregate(request.of);
  make_sure(request.of.by, name, sure(request, verb.question));
  return do_each(request, of, verb.work, verb.did);
}

}  // namespace

int aggregates_close(arguments const& given) {
  CLI::App app{"Closes parents: no more rows are added to them.", "daybook aggregates close"};
  app.footer(codes);
  parent_request request;
  bool all = false;
  add_common(app, request);
  auto* const keys = app.add_option("PARENT", request.keys, "Which, one or several");
  app.add_flag("--all", all, "Each that is open")->excludes(keys);
  parse(app, given, "NAME PARENT... | --all [options]");
  if (!all && request.keys.empty()) {
    throw complaint(exit_code::usage, "aggregates close: say which, or --all");
  }
  auto of = open_aggregate(request.of);
  if (!all) return do_each(request, of, &daybook::aggregation::close, "closed");
  auto const closed = of.made.close_all(request.of.by.remark());
  if (request.as_json) print_json({{"closed", closed}});
  say(fmt::format("{}: {} closed", printable(request.of.name), closed));
  return exit_code::done;
}

int aggregates_settle(arguments const& given) {
  return do_grave({.name = "settle",
                   .summary = "Settles closed parents, each with its rows; that stays.",
                   .key = "PARENT",
                   .question = "settle, for good?",
                   .work = &daybook::aggregation::settle,
                   .did = "settled"},
                  given);
}

int aggregates_revert(arguments const& given) {
  return do_grave({.name = "revert",
                   .summary = "Makes parents void and their rows free again, if not settled.",
                   .key = "PARENT",
                   .question = "make void, its rows free?",
                   .work = &daybook::aggregation::revert,
                   .did = "reverted"},
                  given);
}

int aggregates_remove(arguments const& given) {
  return do_grave({.name = "remove",
                   .summary = "Frees single rows of parents that are open.",
                   .key = "ROW",
                   .question = "take out of its parent?",
                   .work = &daybook::aggregation::remove,
                   .did = "free"},
                  given);
}

}  // namespace command
