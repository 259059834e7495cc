// daybook tokens list, add, link, revoke: who may use the console and the HTTP API.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/operator_input.hpp"
#include "cli/role_words.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <string>

namespace command {

namespace {

constexpr auto role_help = "What it may do: metrics, read, work, operate or admin (read)";

}  // namespace

int tokens_list(arguments const& given) {
  CLI::App app{"Lists tokens and sessions that are valid.", "daybook tokens list"};
  database_options where;
  bool as_json = false;
  add_json(app, as_json);
  add_database_options(app, where);
  parse(app, given);
  auto const book = open_book(resolve(where));
  table rows({"ID", "KIND", "NAME", "ROLE", "MADE BY", "CREATED", "EXPIRES", "USED"});
  for (auto const& one : book.tokens()) {
    if (as_json) {
      print_json({{"id", one.id},
                  {"kind", daybook::word_of(one.kind)},
                  {"name", one.name},
                  {"role", daybook::word_of(one.role)},
                  {"made_by", one.made_by},
                  {"created", iso(one.created)},
                  {"expires", json_of(one.expires)},
                  {"used", json_of(one.used)}});
      continue;
    }
    rows.add({one.id, std::string(daybook::word_of(one.kind)), printable(one.name),
              std::string(daybook::word_of(one.role)), printable(one.made_by),
              seconds_of(one.created), seconds_of(one.expires), seconds_of(one.used)});
  }
  if (!as_json) rows.print();
  return exit_code::done;
}

int tokens_add(arguments const& given) {
  CLI::App app{"Makes a token, and prints it: the book keeps a digest only.", "daybook tokens add"};
  app.footer(
      "\nPrograms send it as `Authorization: Bearer TOKEN`. Its name is the actor of the changes "
      "that\nit makes.");
  daybook::token_options options;
  std::chrono::milliseconds lifetime{};
  operator_input by;
  database_options where;
  app.add_option("NAME", options.name, "Who uses it")->required();
  add_word(app, "--role", options.role, role_words, role_help);
  add_duration(app, "--expires", lifetime, "How long it is valid (until it is revoked)");
  add_reason(app, by);
  add_database_options(app, where);
  parse(app, given, "NAME [options]");
  if (app.count("--expires") > 0) options.lifetime = lifetime;
  print(open_book(resolve(where)).make_token(options, by.remark()) + "\n");
  return exit_code::done;
}

int tokens_link(arguments const& given) {
  CLI::App app{"Prints a link that is good for one login to the console, within five minutes.",
               "daybook tokens link"};
  daybook::token_options options{
      .name = {}, .kind = daybook::token_kind::code, .lifetime = std::chrono::minutes{5}};
  std::string url = "http://127.0.0.1:7717/";
  operator_input by;
  database_options where;
  app.add_option("--name", options.name, "Who logs in (you)")->type_name("NAME");
  add_word(app, "--role", options.role, role_words, role_help);
  app.add_option("--url", url, "Where the console is (http://127.0.0.1:7717/)")->type_name("URL");
  add_reason(app, by);
  add_database_options(app, where);
  parse(app, given);
  if (options.name.empty()) options.name = by.remark().actor;
  auto const code = open_book(resolve(where)).make_token(options, by.remark());
  print(fmt::format("{}{}#code={}\n", url, url.ends_with('/') ? "" : "/", code));
  return exit_code::done;
}

int tokens_revoke(arguments const& given) {
  CLI::App app{"Refuses a token or a session from now on, with the sessions that it made.",
               "daybook tokens revoke"};
  app.footer("\nExit codes: 66 there is none of that id that is valid.");
  std::string id;
  operator_input by;
  database_options where;
  app.add_option("ID", id, "Which, as `tokens list` prints it")->required();
  add_reason(app, by);
  add_database_options(app, where);
  parse(app, given, "ID [options]");
  if (!open_book(resolve(where)).revoke_token(id, by.remark())) {
    throw complaint(exit_code::missing,
                    fmt::format("no token {} is valid; see daybook tokens list", printable(id)));
  }
  say(fmt::format("{}: is refused from now on", printable(id)));
  return exit_code::done;
}

}  // namespace command
