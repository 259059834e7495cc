#include "read_schedule.hpp"

#include "options.hpp"
#include "schedule_words.hpp"

#include <daybook/names.hpp>
#include <daybook/zone.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace command {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr milliseconds a_year = hours{24 * 365};
constexpr std::string_view ours = "DAYBOOK_";

void read_name(declared_schedule& into, toml_value const& from) {
  into.name = from.text();
  from.checked([&] { daybook::check_name("schedule name", into.name); });
}

void read_cron(declared_schedule& into, toml_value const& from) {
  into.cron = from.checked([&] { return daybook::cron::parse(from.text()); });
}

void read_zone(declared_schedule& into, toml_value const& from) {
  into.options.zone = from.text();
  from.checked([&] { return daybook::zone(into.options.zone); });
}

void read_grace(declared_schedule& into, toml_value const& from) {
  auto const length = from.length(std::chrono::seconds{0}, a_year);
  into.options.grace = std::chrono::floor<std::chrono::seconds>(length);
  if (into.options.grace != length) from.wrong("whole seconds are wanted");
}

void read_command(declared_schedule& into, toml_value const& from) {
  for (auto const& [text, value] : from.texts()) {
    if (text.find('\0') != std::string::npos) value.wrong("a word cannot hold a zero byte");
    into.command.push_back(value.checked([&text = text] { return pattern(text); }));
    if (into.command.size() == 1 && text.empty()) value.wrong("its first word names the program");
  }
  if (into.command.empty()) from.wrong("its first word names the program");
}

void read_environment(declared_schedule& into, toml_value const& from) {
  into.environment = from.named_texts();
  for (auto const& [name, text] : into.environment) {
    bool const possible =
        !name.empty() && name.find_first_of(std::string_view("=\0", 2)) == std::string::npos;
    if (!possible || text.find('\0') != std::string::npos) {
      from.wrong(fmt::format("'{}' cannot be in an environment", name));
    }
    if (name.starts_with(ours)) from.wrong(fmt::format("{}... is set by us", ours));
  }
}

struct known_key {
  std::string_view name;
  void (*read)(declared_schedule&, toml_value const&);
};

/// In the order in which they are read: `H` in a cron expression is drawn from the name.
constexpr std::array<known_key, 17> keys{{
    {"name", read_name},
    {"cron", read_cron},
    {"zone", read_zone},
    {"gap", [](declared_schedule& into,
               toml_value const& from) { into.options.changes.gap = from.word(gap_words); }},
    {"fold", [](declared_schedule& into,
                toml_value const& from) { into.options.changes.fold = from.word(fold_words); }},
    {"catch_up", [](declared_schedule& into,
                    toml_value const& from) { into.options.catch_up = from.word(catch_up_words); }},
    {"most",
     [](declared_schedule& into, toml_value const& from) {
       into.options.most = static_cast<int>(from.number(1, 100'000));
     }},
    {"grace", read_grace},
    {"overlap", [](declared_schedule& into,
                   toml_value const& from) { into.options.overlap = from.word(overlap_words); }},
    {"attempts",
     [](declared_schedule& into, toml_value const& from) {
       into.options.attempts = static_cast<int>(from.number(1, 1000));
     }},
    {"backoff",
     [](declared_schedule& into, toml_value const& from) {
       into.options.backoff = from.length(milliseconds{0}, a_year);
     }},
    {"longest_backoff",
     [](declared_schedule& into, toml_value const& from) {
       into.options.longest_backoff = from.length(milliseconds{0}, a_year);
     }},
    {"crash_limit",
     [](declared_schedule& into, toml_value const& from) {
       into.options.crash_limit = static_cast<int>(from.number(1, 100));
     }},
    {"keep",
     [](declared_schedule& into, toml_value const& from) {
       into.options.keep = static_cast<int>(from.number(10, 1'000'000));
     }},
    {"timeout",
     [](declared_schedule& into, toml_value const& from) {
       into.timeout = from.length(milliseconds{1}, a_year);
     }},
    {"command", read_command},
    {"env", read_environment},
}};

void refuse_unknown(toml::table const& from, std::string_view file) {
  for (auto const& [name, value] : from) {
    bool const known = std::any_of(keys.begin(), keys.end(),
                                   [&name = name](auto const& one) { return name == one.name; });
    if (known) continue;
    std::string there;
    for (auto const& one : keys) there += fmt::format("{}{}", there.empty() ? "" : ", ", one.name);
    wrong_in_file(
        file, name.source(),
        fmt::format("'{}' is not known in a [[schedule]]; there are {}", name.str(), there));
  }
}

}  // namespace

declared_schedule read_schedule(toml::table const& from, std::string_view file) {
  refuse_unknown(from, file);
  for (std::string_view const needed : {"name", "cron", "command"}) {
    if (from.contains(needed)) continue;
    wrong_in_file(file, from.source(), fmt::format("a schedule needs a {}", needed));
  }
  declared_schedule out;
  for (auto const& one : keys) {
    auto const* const node = from.get(one.name);
    if (node != nullptr) one.read(out, toml_value(file, one.name, *node));
  }
  if (auto const* const node = from.get("longest_backoff")) {
    toml_value const longest(file, "longest_backoff", *node);
    if (out.options.longest_backoff < out.options.backoff) {
      longest.wrong(fmt::format("shorter than the first one, {}", text_of(out.options.backoff)));
    }
  } else {
    out.options.longest_backoff = std::max(out.options.longest_backoff, out.options.backoff);
  }
  toml_value const cron(file, "cron", *from.get("cron"));
  cron.checked([&] { return out.cron.hashed(out.name); });
  return out;
}

}  // namespace command
