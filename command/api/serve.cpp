// daybook serve: the console, the HTTP API and the metrics of a book.
#include "api/server.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/operator_input.hpp"
#include "cli/role_words.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "http/address.hpp"
#include "process/signals.hpp"

#include <daybook/version.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace command {

namespace {

using json = nlohmann::ordered_json;

struct serve_request {
  std::string file = usual_settings;
  std::string address = "127.0.0.1";
  unsigned short port = 7717;
  std::string cert;
  std::string key;
  std::string name;
  daybook::role first_role = daybook::role::read;
  bool read_only = false;
  bool no_link = false;
  bool routes = false;
  journal::form form = journal::form::text;
  access_options access;
  database_options where;
};

[[noreturn]] void wrong(std::string const& text) {
  throw complaint(exit_code::usage, "serve: " + text);
}

/// "127.0.0.1:7717", "[::1]:7717", "7717"
void read_listen(std::string const& given, serve_request& into) {
  auto const colon = given.rfind(':');
  bool const only_port = colon == std::string::npos && given.find('.') == std::string::npos;
  auto address = only_port ? into.address : given.substr(0, colon);
  auto const port = only_port                    ? given
                    : colon == std::string::npos ? std::to_string(into.port)
                                                 : given.substr(colon + 1);
  if (address.starts_with('[') && address.ends_with(']'))
    address = address.substr(1, address.size() - 2);
  auto const [end, fault] = std::from_chars(port.data(), port.data() + port.size(), into.port);
  if (fault != std::errc{} || end != port.data() + port.size() || !ip_from(address)) {
    wrong(
        fmt::format("--listen {}: an address and a port are wanted, as 127.0.0.1:7717 or "
                    "[::1]:7717",
                    printable(given)));
  }
  into.address = address;
}

daybook::role role_named(std::string const& flag, std::string_view word) {
  auto const found = value_in(role_words, word);
  if (found) return *found;
  wrong(fmt::format("{} {}: the roles are {}", flag, printable(word), listed(role_words)));
}

void read_group(std::string const& given, serve_request& into) {
  auto const equals = given.rfind('=');
  if (equals == std::string::npos || equals == 0) {
    wrong(fmt::format("--group {}: GROUP=ROLE is wanted", printable(given)));
  }
  into.access.groups[given.substr(0, equals)] =
      role_named("--group", std::string_view(given).substr(equals + 1));
}

std::string lower_case(std::string text) {
  for (auto& one : text) one = static_cast<char>(std::tolower(static_cast<unsigned char>(one)));
  return text;
}

/// No setting opens the server: elsewhere than on this machine it takes TLS, or a proxy that has
/// it.
void check_listening(serve_request const& what) {
  if (what.cert.empty() != what.key.empty()) wrong("--cert and --key go together");
  if (!what.access.user_header.empty() && what.access.proxies.empty()) {
    wrong("--user-header is believed from the addresses of --behind-proxy only: say them");
  }
  if (is_loopback(*ip_from(what.address)) || !what.cert.empty() || !what.access.proxies.empty()) {
    return;
  }
  throw complaint(
      exit_code::configuration,
      fmt::format("serve: {} is not of this machine alone: tokens would cross the network in "
                  "the clear. Give --cert and --key, or --behind-proxy with the addresses of the "
                  "proxy that has TLS",
                  what.address));
}

serve_request read_serve(arguments const& given) {
  serve_request out;
  CLI::App app{"Serves the console, the HTTP API and metrics of a book.", "daybook serve"};
  app.footer(
      "\nNothing is open to who has no token: it prints a link that is good for one login within "
      "five\nminutes. Any number of these may run; work goes on without them.\n"
      "\nExit codes: 0 it was asked to end, 69 it cannot listen there, 78 it would have to listen "
      "on a\nnetwork without TLS.");
  std::string listen;
  std::vector<std::string> proxies;
  std::vector<std::string> groups;
  std::string user_role;
  std::string form = "text";
  app.add_option("--listen", listen, "Where (127.0.0.1:7717)")->type_name("ADDRESS:PORT");
  app.add_option("--host", out.access.hosts, "A name of this server, beside those of loopback")
      ->type_name("NAME");
  app.add_option("--cert", out.cert, "TLS: its certificate, with the chain, PEM")
      ->type_name("FILE");
  app.add_option("--key", out.key, "TLS: the key, PEM")->type_name("FILE");
  app.add_option("--behind-proxy", proxies,
                 "Addresses of the proxies in front: their X-Forwarded-For and -Proto are believed")
      ->type_name("CIDR");
  app.add_option("--user-header", out.access.user_header,
                 "The header in which the proxy says who is logged in")
      ->type_name("NAME");
  app.add_option("--groups-header", out.access.groups_header,
                 "The header in which it says their groups, separated by commas")
      ->type_name("NAME");
  app.add_option("--group", groups, "Who is of this group has this role")->type_name("GROUP=ROLE");
  app.add_option("--user-role", user_role, "The role of users of the proxy without such a group")
      ->type_name("ROLE");
  add_word(app, "--first-role", out.first_role, role_words,
           "The role of the link: metrics, read, work, operate or admin (read)");
  app.add_flag("--no-link", out.no_link, "Print no link");
  app.add_flag("--routes", out.routes, "Only print the table of the API's addresses as JSON");
  app.add_flag("--read-only", out.read_only, "Make no changes, whoever asks");
  app.add_option("--name", out.name, "What the page calls the book (its database)");
  app.add_option("--config", out.file,
                 "The file that declares aggregations, and SQL of plans (daybook.toml)")
      ->type_name("FILE");
  app.add_option("--log", form, "One line for each refusal and fault, as text or json (text)")
      ->check(CLI::IsMember({"text", "json"}));
  add_database_options(app, out.where);
  parse(app, given);
  if (form == "json") out.form = journal::form::json;
  if (!listen.empty()) read_listen(listen, out);
  for (auto const& one : groups) read_group(one, out);
  for (auto const& one : proxies) {
    auto const block = ip_block_from(one);
    if (!block) wrong(fmt::format("--behind-proxy {}: 10.0.0.0/8 is wanted", printable(one)));
    out.access.proxies.push_back(*block);
  }
  if (!user_role.empty()) out.access.user_role = role_named("--user-role", user_role);
  out.access.user_header = lower_case(std::move(out.access.user_header));
  out.access.groups_header = lower_case(std::move(out.access.groups_header));
  check_listening(out);
  return out;
}

json json_of(parameter const& one) {
  switch (one.is) {
    case parameter::kind::number:
      return {{"name", one.name}, {"kind", "number"}, {"least", one.least}, {"most", one.most}};
    case parameter::kind::word: return {{"name", one.name}, {"kind", "word"}, {"words", one.words}};
    case parameter::kind::since: return {{"name", one.name}, {"kind", "since"}};
    case parameter::kind::text: break;
  }
  return {{"name", one.name}, {"kind", "text"}, {"least", one.least}, {"most", one.most}};
}

std::string_view word_of(permission wanted) {
  if (wanted == permission::open) return "nothing";
  return wanted == permission::any ? std::string_view("any") : least_role(wanted);
}

std::string_view word_of(reasons one) {
  if (one == reasons::none) return "none";
  return one == reasons::asked ? "asked" : "needed";
}

/// A line for each, for documents and tests.
void print_routes() {
  for (auto const& one : routes()) {
    auto query = json::array();
    auto body = json::array();
    for (auto const& of : one.query) query.push_back(json_of(of));
    for (auto const& of : one.body) body.push_back(json_of(of));
    print_json({{"method", one.method},
                {"path", one.pattern},
                {"takes", word_of(one.takes)},
                {"reason", word_of(one.reason)},
                {"query", std::move(query)},
                {"body", std::move(body)}});
  }
}

/// "shop" of sqlite:/var/lib/shop.db and of postgresql://host/shop.
std::string name_of_book(std::string const& url) {
  auto text = url.substr(0, url.find('?'));
  auto const slash = text.find_last_of("/:");
  if (slash != std::string::npos) text = text.substr(slash + 1);
  auto const dot = text.rfind('.');
  if (url.starts_with("sqlite:") && dot != std::string::npos && dot > 0) text.resize(dot);
  return text.empty() ? "daybook" : text;
}

std::string address_of(serve_request const& what, unsigned short port) {
  auto const host = !what.access.hosts.empty()                    ? what.access.hosts.front()
                    : what.address.find(':') != std::string::npos ? "[" + what.address + "]"
                                                                  : what.address;
  return fmt::format("{}://{}:{}/", what.cert.empty() ? "http" : "https", host, port);
}

}  // namespace

int serve_console(arguments const& given) {
  std::signal(SIGPIPE, SIG_IGN);
  auto const what = read_serve(given);
  if (what.routes) {
    print_routes();
    return exit_code::done;
  }
  auto file = read_settings(what.file);
  daybook::book_options options;
  options.connections = 6;
  options.connect_timeout = std::chrono::seconds{2};
  auto book = open_book(resolve(what.where, file.database), options);
  // Also that the book is there, and of this version.
  static_cast<void>(book.tokens());
  auto const name = what.name.empty() ? name_of_book(book.url()) : what.name;
  services shared(book, std::move(file), name, what.read_only, what.access);
  journal log(what.form);
  signals caught;
  api_server api(shared, log);
  listen_options where{
      .address = what.address, .port = what.port, .cert_file = what.cert, .key_file = what.key};
  where.is_proxy = [&what](std::string const& peer) {
    auto const address = ip_from(peer);
    return address && std::any_of(what.access.proxies.begin(), what.access.proxies.end(),
                                  [&](ip_block const& one) { return one.has(*address); });
  };
  listener server(where, [&api](http_request request, answer_callback done) {
    api.take(std::move(request), std::move(done));
  });
  auto const at = address_of(what, server.port());
  log.info("ready", {{"version", DAYBOOK_VERSION}, {"address", at}, {"book", printable(name)}});
  if (!what.no_link) {
    auto const code =
        book.make_token({.name = operator_input{}.remark().actor,
                         .role = what.first_role,
                         .kind = daybook::token_kind::code,
                         .lifetime = std::chrono::minutes{5}},
                        {.actor = operator_input{}.remark().actor, .reason = "serve"});
    print(at + "#code=" + code + "\n");
  }
  finish_output();
  std::thread io([&server] { server.run(); });
  while (wait_for(std::chrono::seconds{60}, caught) == 0) {
  }
  server.stop();
  io.join();
  log.info("stopped", nlohmann::ordered_json::object());
  return exit_code::done;
}

}  // namespace command
