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

void read_name(parts& parts, toml_value const& value) {
  parts.name = value.text();
  value.checked([&] { daybook::check_name("name of a plan", parts.name); });
}

void read_kind(parts& /*into*/, toml_value const& value) {
  auto const given = value.text();
  if (std::find(plan_kinds.begin(), plan_kinds.end(), given) == plan_kinds.end()) {
    value.wrong(fmt::format("'{}' is not known; there are {}", given, fmt::join(plan_kinds, ", ")));
  }
}

void read_queue_name(parts& parts, toml_value const& value) {
  parts.options.queue = value.text();
  value.checked([&] { daybook::check_name("queue name", parts.options.queue); });
}

void read_timeout(parts& parts, toml_value const& value) {
  parts.query.timeout = value.length(seconds{1}, hours{24});
}

/// "hour", "day", "month" or so many minutes, as "15m".
void read_period(parts& parts, toml_value const& value) {
  auto const given = value.text();
  auto& to = parts.window;
  to.count = 1;
  if (given == "hour") return void(to.each = unit::hour);
  if (given == "day") return void(to.each = unit::day);
  if (given == "month") return void(to.each = unit::month);
  auto const length = value.length(minutes{1}, hours{12});
  if (length % minutes{1} != milliseconds{0} || hours{24} % length != milliseconds{0}) {
    value.wrong("\"hour\", \"day\", \"month\" or minutes that divide a day are wanted: \"15m\"");
  }
  to.each = unit::minute;
  to.count = static_cast<int>(length / minutes{1});
}

void read_since(parts& parts, toml_value const& value) {
  parts.window.since = value.checked([&] { return instant_from(value.text()); });
}

void read_most(parts& parts, toml_value const& value) {
  parts.window.max_periods = static_cast<int>(value.number(1, 100'000));
}

void read_again_after(parts& parts, toml_value const& value) {
  parts.window.retry_after = value.whole_length<seconds>(milliseconds{0}, a_year);
}

void read_columns(parts& parts, toml_value const& given) {
  for (auto const& [column, value] : given.texts()) {
    if (column.empty()) value.wrong("a name is wanted");
    parts.sweep.key.push_back(column);
  }
}

void read_few(parts& parts, toml_value const& value) {
  parts.sweep.max_rows = value.number(1, 1'000'000);
}

void read_comparisons(parts& parts, toml_value const& value) {
  parts.sweep.comparisons = static_cast<int>(value.number(0, 1000));
}

void read_again(parts& parts, toml_value const& value) {
  parts.sweep.repeat_after = value.whole_length<seconds>(seconds{1}, a_year);
}

void read_every(parts& parts, toml_value const& value) {
  parts.options.every = value.length(milliseconds{100}, a_year);
}

void read_priority(parts& parts, toml_value const& value) {
  parts.options.priority = static_cast<int>(value.number(0, 9));
}

void read_page(parts& parts, toml_value const& value) {
  parts.options.page = static_cast<int>(value.number(1, 10'000));
  parts.sweep.page = parts.options.page;
}

constexpr std::array<known_key<parts>, 24> plan_keys{{
    {"name", read_name},
    {"kind", read_kind},
    {"queue", read_queue_name},
    {"query", [](parts& parts, toml_value const& value) { parts.query.query = value.text(); }},
    {"timeout", read_timeout},
    {"from", [](parts& parts, toml_value const& value) { parts.inbox.from = value.text(); }},
    {"period", read_period},
    {"zone", [](parts& parts, toml_value const& value) { parts.window.zone = zone_of(value); }},
    {"since", read_since},
    {"newest_first",
     [](parts& parts, toml_value const& value) { parts.window.newest_first = value.truth(); }},
    {"most", read_most},
    {"again_after", read_again_after},
    {"table", [](parts& parts, toml_value const& value) { parts.sweep.table = value.text(); }},
    {"key", read_columns},
    {"created", [](parts& parts, toml_value const& value) { parts.sweep.created = value.text(); }},
    {"in_memory",
     [](parts& parts, toml_value const& value) { parts.sweep.in_memory = value.truth(); }},
    {"few", read_few},
    {"comparisons", read_comparisons},
    {"again", read_again},
    {"every", read_every},
    {"rule",
     [](parts& parts, toml_value const& value) { parts.options.rule = value.word(rule_words); }},
    {"check", [](parts& parts, toml_value const& value) { parts.options.check = value.text(); }},
    {"priority", read_priority},
    {"page", read_page},
}};

void refuse_others(toml::table const& table, std::string_view file, std::string_view kind) {
  for (auto const& [key, of] : whose) {
    auto const* const node = table.get(key);
    if (node == nullptr || of == kind) continue;
    toml_value(file, key, *node)
        .wrong(fmt::format("it is of plans of kind {}, and this one is of kind {}", of, kind));
  }
}

void need(toml::table const& table, std::string_view file, std::string_view kind,
          std::string_view key) {
  if (table.contains(key)) return;
  wrong_in_file(file, table.source(), fmt::format("a plan of kind {} needs a {}", kind, key));
}

}  // namespace

declared_plan read_plan(toml::table const& table, std::string_view file) {
  parts all;
  read_keys(all, table, file, "a [[plan]]", plan_keys, {"name", "kind", "queue"});
  auto const kind = table["kind"].value_or(std::string());
  refuse_others(table, file, kind);
  if (kind == "query") {
    need(table, file, kind, "query");
    all.options.strategy = std::move(all.query);
  } else if (kind == "inbox") {
    need(table, file, kind, "from");
    all.options.strategy = std::move(all.inbox);
  } else if (kind == "window") {
    need(table, file, kind, "period");
    need(table, file, kind, "since");
    all.options.strategy = std::move(all.window);
  } else {
    need(table, file, kind, "table");
    all.options.strategy = std::move(all.sweep);
  }
  return {std::move(all.name), place_in_file(file, table.source()), std::move(all.options)};
}

}  // namespace command
