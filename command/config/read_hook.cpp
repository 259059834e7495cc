#include "config/read_hook.hpp"

#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "config/read_table.hpp"

#include <daybook/names.hpp>

#include <array>
#include <cstdlib>
#include <string>

namespace command {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

void read_name(declared_hook& declared, toml_value const& value) {
  declared.name = value.text();
  value.checked([&] { daybook::check_name("hook name", declared.name); });
  if (declared.name.find('/') != std::string::npos || declared.name == "on_problem") {
    value.wrong("it has no '/', and is not on_problem");
  }
  constexpr std::size_t longest = 100;  // with more it stands in a key
  if (declared.name.size() > longest) value.wrong(fmt::format("longer than {} bytes", longest));
}

void read_url(declared_hook& declared, toml_value const& value) {
  declared.url = value.text();
  bool const known = declared.url.starts_with("https://") || declared.url.starts_with("http://") ||
                     declared.url.starts_with("${");
  if (!known) value.wrong("a URL is wanted that begins with https://");
  declared.place = value.place();
}

constexpr std::array<known_key<declared_hook>, 5> hook_keys{{
    {"name", read_name},
    {"url", read_url},
    {"form", [](auto& declared, auto& value) { declared.form = value.word(form_words); }},
    {"severity", [](auto& declared, auto& value) { declared.least = value.word(severity_words); }},
    {"secret_file", [](auto& declared, auto& value) { declared.secret_file = value.text(); }},
}};

constexpr std::array<known_key<declared_alerts>, 3> alert_keys{{
    {"every",
     [](auto& declared, auto& value) { declared.every = value.length(seconds{1}, hours{1}); }},
    {"again",
     [](auto& declared, auto& value) {
       declared.options.repeat_after = value.length(minutes{1}, a_year);
     }},
    {"patience",
     [](auto& declared, auto& value) {
       declared.options.problems.patience = value.length(milliseconds{0}, a_year);
     }},
}};

}  // namespace

declared_hook read_hook(toml::table const& table, std::string_view file) {
  declared_hook out;
  read_keys(out, table, file, "a [[hook]]", hook_keys, {"name", "url"});
  return out;
}

void read_on_problem(declared_alerts& declared, toml_value const& value) {
  declared.on_problem = command_of(value, batch_places);
  declared.on_problem_place = value.place();
}

void read_alerts(declared_alerts& declared, toml_value const& value) {
  read_keys(declared, value.table(), value.file(), "[alerts]", alert_keys, {});
}

std::string url_of(declared_hook const& hook) {
  std::string out;
  std::string_view rest = hook.url;
  while (true) {
    auto const open = rest.find("${");
    out += rest.substr(0, open);
    if (open == std::string_view::npos) return out;
    auto const close = rest.find('}', open);
    auto const name = std::string(rest.substr(open + 2, close - open - 2));
    auto const* const value = close == std::string_view::npos ? nullptr : std::getenv(name.c_str());
    if (value == nullptr) {
      throw complaint(exit_code::bad_data,
                      fmt::format("{}: hook {}: there is no variable {} in the environment",
                                  hook.place, printable(hook.name), printable(name)));
    }
    out += value;
    rest.remove_prefix(close + 1);
  }
}

}  // namespace command
