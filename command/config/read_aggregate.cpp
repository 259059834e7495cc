#include "config/read_aggregate.hpp"

#include "config/options.hpp"
#include "config/read_table.hpp"

#include <daybook/names.hpp>

#include <fmt/format.h>

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

/// Of a table or of a column.
std::string name_in(toml_value const& value) {
  auto out = value.text();
  if (out.empty()) value.wrong("a name is wanted");
  return out;
}

std::vector<std::pair<std::string, std::string>> named(toml_value const& value,
                                                       std::string_view key) {
  auto out = value.named_texts();
  for (auto const& [name, text] : out) {
    if (name.empty() || text.empty()) value.wrong(fmt::format("{} is wanted", key));
  }
  return out;
}

std::vector<daybook::parent_column> columns(toml_value const& value) {
  std::vector<daybook::parent_column> out;
  for (auto& [column, expression] : named(value, "a column, and SQL for what stands in it")) {
    out.push_back({std::move(column), std::move(expression)});
  }
  return out;
}

using source = daybook::aggregation_source;

void read_group(source& source, toml_value const& given) {
  for (auto const& [column, value] : given.texts()) {
    if (column.empty()) value.wrong("a name is wanted");
    source.group.push_back(column);
  }
}

void read_unlinked_null(source& source, toml_value const& value) {
  if (value.truth()) source.unlinked.reset();
}

constexpr std::array<known_key<source>, 11> source_keys{{
    {"table", [](source& source, toml_value const& value) { source.table = name_in(value); }},
    {"key", [](source& source, toml_value const& value) { source.key = name_in(value); }},
    {"state", [](source& source, toml_value const& value) { source.state = name_in(value); }},
    {"free", [](source& source, toml_value const& value) { source.free = value.number_or_text(); }},
    {"taken",
     [](source& source, toml_value const& value) { source.taken = value.number_or_text(); }},
    {"settled",
     [](source& source, toml_value const& value) { source.settled = value.number_or_text(); }},
    {"link", [](source& source, toml_value const& value) { source.link = name_in(value); }},
    {"unlinked", [](source& source, toml_value const& value) { source.unlinked = value.text(); }},
    {"unlinked_null", read_unlinked_null},
    {"group", read_group},
    {"filter", [](source& source, toml_value const& value) { source.filter = value.text(); }},
}};

using parent = daybook::aggregation_parent;

constexpr std::array<known_key<parent>, 10> parent_keys{{
    {"table", [](parent& parent, toml_value const& value) { parent.table = name_in(value); }},
    {"key", [](parent& parent, toml_value const& value) { parent.key = name_in(value); }},
    {"state", [](parent& parent, toml_value const& value) { parent.state = name_in(value); }},
    {"open", [](parent& parent, toml_value const& value) { parent.open = value.number_or_text(); }},
    {"closed",
     [](parent& parent, toml_value const& value) { parent.closed = value.number_or_text(); }},
    {"settled",
     [](parent& parent, toml_value const& value) { parent.settled = value.number_or_text(); }},
    {"void",
     [](parent& parent, toml_value const& value) { parent.voided = value.number_or_text(); }},
    {"count", [](parent& parent, toml_value const& value) { parent.count = name_in(value); }},
    {"opening", [](parent& parent, toml_value const& value) { parent.opening = columns(value); }},
    {"following",
     [](parent& parent, toml_value const& value) { parent.following = columns(value); }},
}};

using declared = declared_aggregate;

void read_name(declared& declared, toml_value const& value) {
  declared.name = value.text();
  value.checked([&] { daybook::check_name("name of an aggregation", declared.name); });
  value.checked([&] { daybook::check_name("name of its schedule", declared.schedule()); });
}

/// At the same times of each day, so that it is known when it comes.
void read_every(declared& declared, toml_value const& value) {
  auto const length = value.length(seconds{1}, hours{24});
  auto const parts = [length](milliseconds unit, milliseconds whole) {
    return length % unit == milliseconds{0} && whole % length == milliseconds{0};
  };
  if (length == hours{24}) {
    declared.cron = daybook::cron("0 0 * * *");
  } else if (parts(hours{1}, hours{24})) {
    declared.cron = daybook::cron::parse(fmt::format("0 */{} * * *", length / hours{1}));
  } else if (parts(minutes{1}, hours{1})) {
    declared.cron = daybook::cron::parse(fmt::format("*/{} * * * *", length / minutes{1}));
  } else if (parts(seconds{1}, minutes{1})) {
    declared.cron = daybook::cron::parse(fmt::format("*/{} * * * * *", length / seconds{1}));
  } else {
    value.wrong(fmt::format("{} does not divide a minute, an hour or a day; write cron instead",
                            text_of(length)));
  }
}

void read_cron(declared& declared, toml_value const& value) {
  declared.cron = value.checked([&] { return daybook::cron::parse(value.text()); });
  value.checked([&] { return declared.cron->hashed(declared.schedule()); });
}

void read_source(declared& declared, toml_value const& value) {
  read_keys(declared.options.source, value.table(), value.file(), value.name(), source_keys,
            {"table", "key", "state", "link", "group"});
}

void read_parent(declared& declared, toml_value const& value) {
  read_keys(declared.options.parent, value.table(), value.file(), value.name(), parent_keys,
            {"table", "key", "state"});
}

void read_sums(declared& declared, toml_value const& value) {
  for (auto& [column, sum] : named(value, "a column, and that of its sum")) {
    declared.options.sums.push_back({std::move(column), std::move(sum)});
  }
}

void read_allow_null(declared& declared, toml_value const& value) {
  declared.options.allow_null = value.truth();
}

void read_allow_negative(declared& declared, toml_value const& value) {
  declared.options.allow_negative = value.truth();
}

void read_chunk(declared& declared, toml_value const& value) {
  declared.options.chunk = static_cast<int>(value.number(1, 1'000'000));
}

void read_key_prefix(declared& declared, toml_value const& value) {
  declared.options.key_prefix = value.text();
}

/// In the order in which they are read: `H` in a cron expression is drawn from the name.
constexpr std::array<known_key<declared>, 13> aggregate_keys{{
    {"name", read_name},
    {"every", read_every},
    {"cron", read_cron},
    {"zone", [](declared& declared, toml_value const& value) { declared.zone = zone_of(value); }},
    {"source", read_source},
    {"parent", read_parent},
    {"sums", read_sums},
    {"allow_null", read_allow_null},
    {"allow_negative", read_allow_negative},
    {"chunk", read_chunk},
    {"key_prefix", read_key_prefix},
    {"fresh", [](declared& declared, toml_value const& value) { declared.fresh = value.truth(); }},
    {"close", [](declared& declared, toml_value const& value) { declared.close = value.truth(); }},
}};

/// The second of two keys that say the same thing.
void refuse_both(toml::table const& table, std::string_view file, std::string_view one,
                 std::string_view other) {
  if (!table.contains(one) || !table.contains(other)) return;
  auto const* const node = table.get(other);
  toml_value(file, other, *node).wrong(fmt::format("there is {} already", one));
}

}  // namespace

declared_aggregate read_aggregate(toml::table const& table, std::string_view file) {
  declared_aggregate out;
  out.place = place_in_file(file, table.source());
  read_keys(out, table, file, "an [[aggregate]]", aggregate_keys, {"name", "source", "parent"});
  refuse_both(table, file, "every", "cron");
  if (auto const* const rows = table.get_as<toml::table>("source")) {
    refuse_both(*rows, file, "unlinked", "unlinked_null");
  }
  if (table.contains("zone") && !out.cron) {
    toml_value(file, "zone", *table.get("zone")).wrong("it goes with every or cron");
  }
  return out;
}

}  // namespace command
