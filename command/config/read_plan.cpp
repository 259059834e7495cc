#include "config/read_plan.hpp"

#include "cli/dates.hpp"
#include "config/options.hpp"
#include "config/read_table.hpp"

#include <daybook/names.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

namespace command {

namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using unit = daybook::window_strategy::unit;

/// What stands in the file, for whichever kind it is of.
struct parts {
  std::string name;
  daybook::planner_options options;
  daybook::query_strategy query;
  daybook::inbox_strategy inbox;
  daybook::window_strategy window;
  daybook::sweep_strategy sweep;
};

/// Which keys only one kind has.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> whose{{
    {"query", "query"},
    {"timeout", "query"},
    {"from", "inbox"},
    {"period", "window"},
    {"zone", "window"},
    {"since", "window"},
    {"newest_first", "window"},
    {"most", "window"},
    {"again_after", "window"},
    {"table", "sweep"},
    {"key", "sweep"},
    {"created", "sweep"},
    {"in_memory", "sweep"},
    {"few", "sweep"},
    {"comparisons", "sweep"},
    {"again", "sweep"},
}};

void read_name(parts& into, toml_value const& from) {
  into.name = from.text();
  from.checked([&] { daybook::check_name("name of a plan", into.name); });
}

void read_kind(parts& /*into*/, toml_value const& from) {
  auto const given = from.text();
  if (std::find(plan_kinds.begin(), plan_kinds.end(), given) == plan_kinds.end()) {
    from.wrong(fmt::format("'{}' is not known; there are {}", given, fmt::join(plan_kinds, ", ")));
  }
}

void read_queue_name(parts& into, toml_value const& from) {
  into.options.queue = from.text();
  from.checked([&] { daybook::check_name("queue name", into.options.queue); });
}

void read_timeout(parts& into, toml_value const& from) {
  into.query.timeout = from.length(seconds{1}, hours{24});
}

/// "hour", "day", "month" or so many minutes, as "15m".
void read_period(parts& into, toml_value const& from) {
  auto const given = from.text();
  auto& to = into.window;
  to.count = 1;
  if (given == "hour") return void(to.each = unit::hour);
  if (given == "day") return void(to.each = unit::day);
  if (given == "month") return void(to.each = unit::month);
  auto const length = from.length(minutes{1}, hours{12});
  if (length % minutes{1} != milliseconds{0} || hours{24} % length != milliseconds{0}) {
    from.wrong("\"hour\", \"day\", \"month\" or minutes that divide a day are wanted: \"15m\"");
  }
  to.each = unit::minute;
  to.count = static_cast<int>(length / minutes{1});
}

void read_since(parts& into, toml_value const& from) {
  into.window.since = from.checked([&] { return instant_from(from.text()); });
}

void read_most(parts& into, toml_value const& from) {
  into.window.most = static_cast<int>(from.number(1, 100'000));
}

void read_again_after(parts& into, toml_value const& from) {
  into.window.retry_after = from.whole_length<seconds>(milliseconds{0}, a_year);
}

void read_columns(parts& into, toml_value const& from) {
  for (auto const& [column, value] : from.texts()) {
    if (column.empty()) value.wrong("a name is wanted");
    into.sweep.key.push_back(column);
  }
}

void read_few(parts& into, toml_value const& from) { into.sweep.few = from.number(1, 1'000'000); }

void read_comparisons(parts& into, toml_value const& from) {
  into.sweep.comparisons = static_cast<int>(from.number(0, 1000));
}

void read_again(parts& into, toml_value const& from) {
  into.sweep.again = from.whole_length<seconds>(seconds{1}, a_year);
}

void read_every(parts& into, toml_value const& from) {
  into.options.every = from.length(milliseconds{100}, a_year);
}

void read_priority(parts& into, toml_value const& from) {
  into.options.priority = static_cast<int>(from.number(0, 9));
}

void read_page(parts& into, toml_value const& from) {
  into.options.page = static_cast<int>(from.number(1, 10'000));
  into.sweep.page = into.options.page;
}

constexpr std::array<known_key<parts>, 24> plan_keys{{
    {"name", read_name},
    {"kind", read_kind},
    {"queue", read_queue_name},
    {"query", [](parts& into, toml_value const& from) { into.query.query = from.text(); }},
    {"timeout", read_timeout},
    {"from", [](parts& into, toml_value const& from) { into.inbox.from = from.text(); }},
    {"period", read_period},
    {"zone", [](parts& into, toml_value const& from) { into.window.zone = zone_of(from); }},
    {"since", read_since},
    {"newest_first",
     [](parts& into, toml_value const& from) { into.window.newest_first = from.truth(); }},
    {"most", read_most},
    {"again_after", read_again_after},
    {"table", [](parts& into, toml_value const& from) { into.sweep.table = from.text(); }},
    {"key", read_columns},
    {"created", [](parts& into, toml_value const& from) { into.sweep.created = from.text(); }},
    {"in_memory", [](parts& into, toml_value const& from) { into.sweep.in_memory = from.truth(); }},
    {"few", read_few},
    {"comparisons", read_comparisons},
    {"again", read_again},
    {"every", read_every},
    {"rule",
     [](parts& into, toml_value const& from) { into.options.rule = from.word(rule_words); }},
    {"check", [](parts& into, toml_value const& from) { into.options.check = from.text(); }},
    {"priority", read_priority},
    {"page", read_page},
}};

void refuse_others(toml::table const& from, std::string_view file, std::string_view kind) {
  for (auto const& [key, of] : whose) {
    auto const* const node = from.get(key);
    if (node == nullptr || of == kind) continue;
    toml_value(file, key, *node)
        .wrong(fmt::format("it is of plans of kind {}, and this one is of kind {}", of, kind));
  }
}

void need(toml::table const& from, std::string_view file, std::string_view kind,
          std::string_view key) {
  if (from.contains(key)) return;
  wrong_in_file(file, from.source(), fmt::format("a plan of kind {} needs a {}", kind, key));
}

}  // namespace

declared_plan read_plan(toml::table const& from, std::string_view file) {
  parts all;
  read_keys(all, from, file, "a [[plan]]", plan_keys, {"name", "kind", "queue"});
  auto const kind = from["kind"].value_or(std::string());
  refuse_others(from, file, kind);
  if (kind == "query") {
    need(from, file, kind, "query");
    all.options.strategy = std::move(all.query);
  } else if (kind == "inbox") {
    need(from, file, kind, "from");
    all.options.strategy = std::move(all.inbox);
  } else if (kind == "window") {
    need(from, file, kind, "period");
    need(from, file, kind, "since");
    all.options.strategy = std::move(all.window);
  } else {
    need(from, file, kind, "table");
    all.options.strategy = std::move(all.sweep);
  }
  return {std::move(all.name), place_in_file(file, from.source()), std::move(all.options)};
}

}  // namespace command
