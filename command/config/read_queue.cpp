#include "config/read_queue.hpp"

#include "cli/queue_words.hpp"
#include "config/options.hpp"
#include "config/read_table.hpp"

#include <daybook/names.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace command {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds a_century = hours{24 * 36500};

/// The file's are shorter (docs/reference/config.md).
constexpr words_for<daybook::period_anchor, 2> toml_cadence_words{
    {{"turn", daybook::period_anchor::from_turn}, {"finish", daybook::period_anchor::from_finish}}};
/// Those of a command: no `tx`.
constexpr words_for<daybook::step_mode, 2> toml_mode_words{
    {{"at-least-once", daybook::step_mode::at_least_once},
     {"at-most-once", daybook::step_mode::at_most_once}}};

void read_name(declared_queue& declared, toml_value const& value) {
  declared.name = value.text();
  value.checked([&] { daybook::check_name("queue name", declared.name); });
}

void read_mode(declared_queue& declared, toml_value const& value) {
  if (value.text() == "tx") {
    value.wrong(
        "'tx' is for handlers in a program: a command cannot share a transaction with us; there "
        "are at-least-once, at-most-once");
  }
  declared.options.mode = value.word(toml_mode_words);
}

void read_rate(declared_queue& declared, toml_value const& value) {
  declared.options.rate = rate_from(value.text());
  auto const count = declared.options.rate ? declared.options.rate->count : 0;
  if (count < 1 || count > 1'000'000) {
    value.wrong(
        "a number from 1 to 1000000 and a time are wanted, in quotes: \"50/s\", \"10/m\", "
        "\"1000/h\" or \"20000/d\"");
  }
}

daybook::cron cron_of(declared_queue const& declared, toml_value const& value) {
  return value.checked([&] {
    auto const read = daybook::cron::parse(value.text());
    static_cast<void>(read.hashed(declared.rounds_schedule()));
    static_cast<void>(read.hashed(declared.reconcile_schedule()));
    return read;
  });
}

void read_rounds(declared_queue& declared, toml_value const& value) {
  declared.rounds = cron_of(declared, value);
  declared.options.rounds = true;
  value.checked([&] { daybook::check_name("its schedule's name", declared.rounds_schedule()); });
}

void read_reconcile(declared_queue& declared, toml_value const& value) {
  if (!declared.watch) value.wrong("there is nothing to compare with: it goes with watch");
  declared.reconcile = cron_of(declared, value);
  value.checked([&] { daybook::check_name("its schedule's name", declared.reconcile_schedule()); });
}

void read_on_new(declared_queue& declared, toml_value const& value) {
  if (!declared.rounds) value.wrong("there are no rounds to wait for: it goes with rounds");
  declared.options.new_member_policy = value.word(on_new_words);
}

void read_grain(declared_queue& declared, toml_value const& value) {
  declared.options.grain = value.length(seconds{1}, a_century);
  bool const longer = declared.options.grain > declared.options.period;
  if (declared.options.period.count() > 0 && longer) value.wrong("longer than the period");
}

void read_in_order(declared_queue& declared, toml_value const& value) {
  declared.options.in_order = value.truth();
  if (!declared.options.in_order) return;
  if (declared.options.period.count() > 0)
    value.wrong("a task of a queue with a period is done again");
  if (declared.options.rounds) value.wrong("it does not go with rounds");
  if (declared.watch) value.wrong("it does not go with a table that is watched");
}

void read_forget_done(declared_queue& declared, toml_value const& value) {
  if (declared.options.period.count() > 0)
    value.wrong("a task of a queue with a period is done again");
  if (declared.watch) {
    value.wrong("it does not go with a table that is watched: its rows would bring them again");
  }
  declared.options.done_retention =
      value.whole_length<seconds>(std::chrono::minutes{1}, declared.options.retention);
}

void read_retention(declared_queue& declared, toml_value const& value) {
  declared.options.retention = value.whole_length<hours>(hours{1}, a_century);
}

void read_watch(declared_queue& declared, toml_value const& value) {
  auto& of = declared.watch.emplace();
  for (auto const& [name, text] : value.named_texts()) {
    if (name != "table" && name != "key") {
      value.wrong(fmt::format("'{}' is not known; there are table, key", name));
    }
    (name == "table" ? of.table : of.key) = text;
  }
  if (of.table.empty() || of.key.empty()) {
    value.wrong("a table and its key are wanted: { table = \"product\", key = \"code\" }");
  }
}

void read_command(declared_queue& declared, toml_value const& value) {
  declared.command =
      command_of(value, declared.batch > 0 ? place_names(batch_places) : task_places);
  declared.command_place = value.place();
}

using key = known_key<declared_queue>;

template <int daybook::queue_options::*field, std::int64_t low, std::int64_t high>
void read_number(declared_queue& declared, toml_value const& value) {
  declared.options.*field = static_cast<int>(value.number(low, high));
}

/// In the order in which they are read: some say what others may be.
constexpr std::array<key, 27> queue_keys{{
    {"name", read_name},
    {"period", [](auto& declared,
                  auto& value) { declared.options.period = value.length(seconds{1}, a_century); }},
    {"grain", read_grain},
    {"cadence",
     [](auto& declared, auto& value) {
       declared.options.period_anchor = value.word(toml_cadence_words);
     }},
    {"mode", read_mode},
    {"attempts", read_number<&daybook::queue_options::attempts, 1, 1000>},
    {"backoff",
     [](auto& declared, auto& value) {
       declared.options.backoff = value.length(milliseconds{0}, a_year);
     }},
    {"longest_backoff",
     [](auto& declared, auto& value) {
       declared.options.longest_backoff = value.length(milliseconds{0}, a_year);
     }},
    {"crash_limit", read_number<&daybook::queue_options::crash_limit, 1, 100>},
    {"limit", read_number<&daybook::queue_options::running_limit, 1, 1'000'000>},
    {"rate", read_rate},
    {"burst", read_number<&daybook::queue_options::burst, 1, 1'000'000>},
    {"rounds", read_rounds},
    {"on_new", read_on_new},
    {"zone", [](auto& declared, auto& value) { declared.zone = zone_of(value); }},
    {"watch", read_watch},
    {"reconcile", read_reconcile},
    {"retention", read_retention},
    {"forget_done", read_forget_done},
    {"in_order", read_in_order},
    {"segment", read_number<&daybook::queue_options::segment, 1, 1000>},
    {"workers", [](auto& declared,
                   auto& value) { declared.workers = static_cast<int>(value.number(1, 1000)); }},
    {"batch", [](auto& declared,
                 auto& value) { declared.batch = static_cast<int>(value.number(1, 10'000)); }},
    {"timeout",
     [](auto& declared, auto& value) { declared.timeout = value.length(milliseconds{1}, a_year); }},
    {"database_url", [](auto& declared, auto& value) { declared.database_url = value.truth(); }},
    {"command", read_command},
    {"env", [](auto& declared, auto& value) { declared.environment = environment_of(value); }},
}};

}  // namespace

declared_queue read_queue(toml::table const& table, std::string_view file) {
  declared_queue out;
  read_keys(out, table, file, "a [[queue]]", queue_keys, {"name", "command"});
  settle_backoff(table, file, out.options.backoff, out.options.longest_backoff);
  return out;
}

}  // namespace command
