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

void read_name(declared_hook& into, toml_value const& from) {
  into.name = from.text();
  from.checked([&] { daybook::check_name("hook name", into.name); });
  if (into.name.find('/') != std::string::npos || into.name == "on_problem") {
    from.wrong("it has no '/', and is not on_problem");
  }
  constexpr std::size_t longest = 100;  // with more it stands in a key
  if (into.name.size() > longest) from.wrong(fmt::format("longer than {} bytes", longest));
}

void read_url(declared_hook& into, toml_value const& from) {
  into.url = from.text();
  bool const known = into.url.starts_with("https://") || into.url.starts_with("http://") ||
                     into.url.starts_with("${");
  if (!known) from.wrong("a URL is wanted that begins with https://");
  into.place = from.place();
}

constexpr std::array<known_key<declared_hook>, 5> hook_keys{{
    {"name", read_name},
    {"url", read_url},
    {"form", [](auto& into, auto& from) { into.form = from.word(form_words); }},
    {"severity", [](auto& into, auto& from) { into.least = from.word(severity_words); }},
    {"secret_file", [](auto& into, auto& from) { into.secret_file = from.text(); }},
}};

constexpr std::array<known_key<declared_alerts>, 3> alert_keys{{
    {"every", [](auto& into, auto& from) { into.every = from.length(seconds{1}, hours{1}); }},
    {"again", [](auto& into, auto& from) { into.options.again = from.length(minutes{1}, a_year); }},
    {"patience",
     [](auto& into, auto& from) {
       into.options.problems.patience = from.length(milliseconds{0}, a_year);
     }},
}};

}  // namespace

declared_hook read_hook(toml::table const& from, std::string_view file) {
  declared_hook out;
  read_keys(out, from, file, "a [[hook]]", hook_keys, {"name", "url"});
  return out;
}

void read_on_problem(declared_alerts& into, toml_value const& from) {
  into.on_problem = command_of(from, batch_places);
  into.on_problem_place = from.place();
}

void read_alerts(declared_alerts& into, toml_value const& from) {
  read_keys(into, from.table(), from.file(), "[alerts]", alert_keys, {});
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
