#include "config/read_schedule.hpp"

#include "cli/schedule_words.hpp"
#include "config/read_table.hpp"

#include <daybook/names.hpp>

#include <array>
#include <string>

namespace command {

namespace {

using std::chrono::milliseconds;

void read_name(declared_schedule& declared, toml_value const& value) {
  declared.name = value.text();
  value.checked([&] { daybook::check_name("schedule name", declared.name); });
}

void read_cron(declared_schedule& declared, toml_value const& value) {
  declared.cron = value.checked([&] { return daybook::cron::parse(value.text()); });
}

void read_grace(declared_schedule& declared, toml_value const& value) {
  declared.options.grace =
      value.whole_length<std::chrono::seconds>(std::chrono::seconds{1}, a_year);
}

void read_command(declared_schedule& declared, toml_value const& value) {
  declared.command = command_of(value, tick_places);
  declared.command_place = value.place();
}

/// In the order in which they are read: `H` in a cron expression is drawn from the name.
constexpr std::array<known_key<declared_schedule>, 18> schedule_keys{{
    {"name", read_name},
    {"cron", read_cron},
    {"zone", [](declared_schedule& declared,
                toml_value const& value) { declared.options.zone = zone_of(value); }},
    {"gap", [](declared_schedule& declared,
               toml_value const& value) { declared.options.changes.gap = value.word(gap_words); }},
    {"fold",
     [](declared_schedule& declared, toml_value const& value) {
       declared.options.changes.fold = value.word(fold_words);
     }},
    {"catch_up",
     [](declared_schedule& declared, toml_value const& value) {
       declared.options.catch_up = value.word(catch_up_words);
     }},
    {"most",
     [](declared_schedule& declared, toml_value const& value) {
       declared.options.max_ticks = static_cast<int>(value.number(1, 100'000));
     }},
    {"grace", read_grace},
    {"overlap",
     [](declared_schedule& declared, toml_value const& value) {
       declared.options.overlap = value.word(overlap_words);
     }},
    {"attempts",
     [](declared_schedule& declared, toml_value const& value) {
       declared.options.attempts = static_cast<int>(value.number(1, 1000));
     }},
    {"backoff",
     [](declared_schedule& declared, toml_value const& value) {
       declared.options.backoff = value.length(milliseconds{0}, a_year);
     }},
    {"longest_backoff",
     [](declared_schedule& declared, toml_value const& value) {
       declared.options.longest_backoff = value.length(milliseconds{0}, a_year);
     }},
    {"crash_limit",
     [](declared_schedule& declared, toml_value const& value) {
       declared.options.crash_limit = static_cast<int>(value.number(1, 100));
     }},
    {"keep",
     [](declared_schedule& declared, toml_value const& value) {
       declared.options.keep = static_cast<int>(value.number(10, 1'000'000));
     }},
    {"timeout",
     [](declared_schedule& declared, toml_value const& value) {
       declared.timeout = value.length(milliseconds{1}, a_year);
     }},
    {"database_url", [](declared_schedule& declared,
                        toml_value const& value) { declared.database_url = value.truth(); }},
    {"command", read_command},
    {"env", [](declared_schedule& declared,
               toml_value const& value) { declared.environment = environment_of(value); }},
}};

}  // namespace

declared_schedule read_schedule(toml::table const& table, std::string_view file) {
  declared_schedule out;
  read_keys(out, table, file, "a [[schedule]]", schedule_keys, {"name", "cron", "command"});
  settle_backoff(table, file, out.options.backoff, out.options.longest_backoff);
  toml_value const cron(file, "cron", *table.get("cron"));
  cron.checked([&] { return out.cron.hashed(out.name); });
  return out;
}

}  // namespace command
