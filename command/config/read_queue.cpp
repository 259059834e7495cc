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

void read_name(declared_queue& into, toml_value const& from) {
  into.name = from.text();
  from.checked([&] { daybook::check_name("queue name", into.name); });
}

void read_mode(declared_queue& into, toml_value const& from) {
  if (from.text() == "tx") {
    from.wrong(
        "'tx' is for handlers in a program: a command cannot share a transaction with us; there "
        "are at-least-once, at-most-once");
  }
  into.options.mode = from.word(toml_mode_words);
}

void read_rate(declared_queue& into, toml_value const& from) {
  into.options.rate = rate_from(from.text());
  auto const count = into.options.rate ? into.options.rate->count : 0;
  if (count < 1 || count > 1'000'000) {
    from.wrong(
        "a number from 1 to 1000000 and a time are wanted, in quotes: \"50/s\", \"10/m\", "
        "\"1000/h\" or \"20000/d\"");
  }
}

daybook::cron cron_of(declared_queue const& of, toml_value const& from) {
  return from.checked([&] {
    auto const read = daybook::cron::parse(from.text());
    static_cast<void>(read.hashed(of.rounds_schedule()));
    static_cast<void>(read.hashed(of.reconcile_schedule()));
    return read;
  });
}

void read_rounds(declared_queue& into, toml_value const& from) {
  into.rounds = cron_of(into, from);
  into.options.rounds = true;
  from.checked([&] { daybook::check_name("its schedule's name", into.rounds_schedule()); });
}

void read_reconcile(declared_queue& into, toml_value const& from) {
  if (!into.watch) from.wrong("there is nothing to compare with: it goes with watch");
  into.reconcile = cron_of(into, from);
  from.checked([&] { daybook::check_name("its schedule's name", into.reconcile_schedule()); });
}

void read_on_new(declared_queue& into, toml_value const& from) {
  if (!into.rounds) from.wrong("there are no rounds to wait for: it goes with rounds");
  into.options.new_member_policy = from.word(on_new_words);
}

void read_grain(declared_queue& into, toml_value const& from) {
  into.options.grain = from.length(seconds{1}, a_century);
  bool const longer = into.options.grain > into.options.period;
  if (into.options.period.count() > 0 && longer) from.wrong("longer than the period");
}

void read_in_order(declared_queue& into, toml_value const& from) {
  into.options.in_order = from.truth();
  if (!into.options.in_order) return;
  if (into.options.period.count() > 0) from.wrong("a task of a queue with a period is done again");
  if (into.options.rounds) from.wrong("it does not go with rounds");
  if (into.watch) from.wrong("it does not go with a table that is watched");
}

void read_forget_done(declared_queue& into, toml_value const& from) {
  if (into.options.period.count() > 0) from.wrong("a task of a queue with a period is done again");
  if (into.watch) {
    from.wrong("it does not go with a table that is watched: its rows would bring them again");
  }
  into.options.done_retention =
      from.whole_length<seconds>(std::chrono::minutes{1}, into.options.retention);
}

void read_retention(declared_queue& into, toml_value const& from) {
  into.options.retention = from.whole_length<hours>(hours{1}, a_century);
}

void read_watch(declared_queue& into, toml_value const& from) {
  auto& of = into.watch.emplace();
  for (auto const& [name, text] : from.named_texts()) {
    if (name != "table" && name != "key") {
      from.wrong(fmt::format("'{}' is not known; there are table, key", name));
    }
    (name == "table" ? of.table : of.key) = text;
  }
  if (of.table.empty() || of.key.empty()) {
    from.wrong("a table and its key are wanted: { table = \"product\", key = \"code\" }");
  }
}

void read_command(declared_queue& into, toml_value const& from) {
  into.command = command_of(from, into.batch > 0 ? place_names(batch_places) : task_places);
  into.command_place = from.place();
}

using key = known_key<declared_queue>;

template <int daybook::queue_options::*field, std::int64_t low, std::int64_t high>
void read_number(declared_queue& into, toml_value const& from) {
  into.options.*field = static_cast<int>(from.number(low, high));
}

/// In the order in which they are read: some say what others may be.
constexpr std::array<key, 27> queue_keys{{
    {"name", read_name},
    {"period",
     [](auto& into, auto& from) { into.options.period = from.length(seconds{1}, a_century); }},
    {"grain", read_grain},
    {"cadence",
     [](auto& into, auto& from) { into.options.period_anchor = from.word(toml_cadence_words); }},
    {"mode", read_mode},
    {"attempts", read_number<&daybook::queue_options::attempts, 1, 1000>},
    {"backoff",
     [](auto& into, auto& from) { into.options.backoff = from.length(milliseconds{0}, a_year); }},
    {"longest_backoff",
     [](auto& into, auto& from) {
       into.options.longest_backoff = from.length(milliseconds{0}, a_year);
     }},
    {"crash_limit", read_number<&daybook::queue_options::crash_limit, 1, 100>},
    {"limit", read_number<&daybook::queue_options::running_limit, 1, 1'000'000>},
    {"rate", read_rate},
    {"burst", read_number<&daybook::queue_options::burst, 1, 1'000'000>},
    {"rounds", read_rounds},
    {"on_new", read_on_new},
    {"zone", [](auto& into, auto& from) { into.zone = zone_of(from); }},
    {"watch", read_watch},
    {"reconcile", read_reconcile},
    {"retention", read_retention},
    {"forget_done", read_forget_done},
    {"in_order", read_in_order},
    {"segment", read_number<&daybook::queue_options::segment, 1, 1000>},
    {"workers",
     [](auto& into, auto& from) { into.workers = static_cast<int>(from.number(1, 1000)); }},
    {"batch",
     [](auto& into, auto& from) { into.batch = static_cast<int>(from.number(1, 10'000)); }},
    {"timeout",
     [](auto& into, auto& from) { into.timeout = from.length(milliseconds{1}, a_year); }},
    {"database_url", [](auto& into, auto& from) { into.database_url = from.truth(); }},
    {"command", read_command},
    {"env", [](auto& into, auto& from) { into.environment = environment_of(from); }},
}};

}  // namespace

declared_queue read_queue(toml::table const& from, std::string_view file) {
  declared_queue out;
  read_keys(out, from, file, "a [[queue]]", queue_keys, {"name", "command"});
  settle_backoff(from, file, out.options.backoff, out.options.longest_backoff);
  return out;
}

}  // namespace command
