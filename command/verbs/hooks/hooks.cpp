// daybook hooks: who is told of problems; one of them told now, to see that it arrives.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "config/read_hook.hpp"
#include "config/settings.hpp"
#include "verbs/hooks/message.hpp"
#include "verbs/hooks/sender.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <vector>

namespace command {

namespace {

/// What may be shown of where it is sent; a variable that is not there is named.
std::string target_of(declared_hook const& hook) {
  return hook.url.find("${") == std::string::npos ? shown_url(hook.url) : printable(hook.url);
}

}  // namespace

int hooks_list(arguments const& given) {
  CLI::App app{"Lists the hooks of daybook.toml: who is told of problems, and of which.",
               "daybook hooks list"};
  std::string file = usual_settings;
  bool as_json = false;
  app.add_option("--config", file, "The file (daybook.toml)")->type_name("FILE");
  add_json(app, as_json);
  parse(app, given);
  table rows({"NAME", "FORM", "SEVERITY", "SIGNED", "URL"});
  for (auto const& one : read_settings(file).alerts.hooks) {
    bool const is_signed = !one.secret_file.empty();
    if (as_json) {
      print_json({{"name", one.name},
                  {"form", word_in(form_words, one.form)},
                  {"severity", word_in(severity_words, one.least)},
                  {"signed", is_signed},
                  {"url", target_of(one)}});
    } else {
      rows.add({printable(one.name), std::string(word_in(form_words, one.form)),
                std::string(word_in(severity_words, one.least)), is_signed ? "yes" : "no",
                target_of(one)});
    }
  }
  if (!as_json) rows.print();
  return exit_code::done;
}

int hooks_test(arguments const& given) {
  CLI::App app{
      "Sends one hook of daybook.toml a problem that says that it is a test, now and once.",
      "daybook hooks test"};
  app.footer("\nExit codes: 0 it was answered with 2xx; 66 there is no such hook; 69 it was not.");
  std::string file = usual_settings;
  std::string name;
  app.add_option("NAME", name, "The hook")->required();
  app.add_option("--config", file, "The file (daybook.toml)")->type_name("FILE");
  parse(app, given);
  auto const all = read_settings(file).alerts.hooks;
  auto const hook = std::find_if(all.begin(), all.end(),
                                 [&](declared_hook const& one) { return one.name == name; });
  if (hook == all.end()) {
    std::vector<std::string> names;
    for (auto const& one : all) names.push_back(one.name);
    throw complaint(exit_code::missing,
                    fmt::format("{}: no hook {}; {}", printable(file), printable(name),
                                there_are(std::move(names), name)));
  }
  auto const now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  try {
    auto const id = fmt::format("test-{:08x}", std::random_device{}());
    post(request_of(*hook, test_message(name, "", now), id), {});
  } catch (complaint const&) {
    throw;
  } catch (std::runtime_error const& e) {
    throw complaint(exit_code::unreachable,
                    fmt::format("hook {}: {}", printable(name), printable(e.what())));
  }
  print(fmt::format("told: {} at {}\n", printable(name), target_of(*hook)));
  return exit_code::done;
}

}  // namespace command
