#include "config/read_schedule.hpp"

#include "cli/schedule_words.hpp"
#include "config/read_table.hpp"

#include <daybook/names.hpp>

#include <array>
#include <string>

namespace command {

namespace {

using std::chrono::milliseconds;

void read_name(declared_schedule& into, toml_value const& from) {
  into.name = from.text();
  from.checked([&] { daybook::check_name("schedule name", into.name); });
}

void read_cron(declared_schedule& into, toml_value const& from) {
  into.cron = from.checked([&] { return daybook::cron::parse(from.text()); });
}

void read_grace(declared_schedule& into, toml_value const& from) {
  into.options.grace = from.whole_length<std::chrono::seconds>(std::chrono::seconds{1}, a_year);
}

void read_command(declared_schedule& into, toml_value const& from) {
  into.command = command_of(from, tick_places);
  into.command_place = from.place();
}

/// In the order in which they are read: `H` in a cron expression is drawn from the name.
constexpr std::array<known_key<declared_schedule>, 18> schedule_keys{{
    {"name", read_name},
    {"cron", read_cron},
    {"zone",
     [](declared_schedule& into, toml_value const& from) { into.options.zone = zone_of(from); }},
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
    {"database_url",
     [](declared_schedule& into, toml_value const& from) { into.database_url = from.truth(); }},
    {"command", read_command},
    {"env", [](declared_schedule& into,
               toml_value const& from) { into.environment = environment_of(from); }},
}};

}  // namespace

declared_schedule read_schedule(toml::table const& from, std::string_view file) {
  declared_schedule out;
  read_keys(out, from, file, "a [[schedule]]", schedule_keys, {"name", "cron", "command"});
  settle_backoff(from, file, out.options.backoff, out.options.longest_backoff);
  toml_value const cron(file, "cron", *from.get("cron"));
  cron.checked([&] { return out.cron.hashed(out.name); });
  return out;
}

}  // namespace command
