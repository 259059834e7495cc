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
std::string name_in(toml_value const& from) {
  auto out = from.text();
  if (out.empty()) from.wrong("a name is wanted");
  return out;
}

std::vector<std::pair<std::string, std::string>> named(toml_value const& from,
                                                       std::string_view what) {
  auto out = from.named_texts();
  for (auto const& [name, text] : out) {
    if (name.empty() || text.empty()) from.wrong(fmt::format("{} is wanted", what));
  }
  return out;
}

std::vector<daybook::parent_column> columns(toml_value const& from) {
  std::vector<daybook::parent_column> out;
  for (auto& [column, expression] : named(from, "a column, and SQL for what stands in it")) {
    out.push_back({std::move(column), std::move(expression)});
  }
  return out;
}

using source = daybook::aggregation_source;

void read_group(source& into, toml_value const& from) {
  for (auto const& [column, value] : from.texts()) {
    if (column.empty()) value.wrong("a name is wanted");
    into.group.push_back(column);
  }
}

void read_unlinked_null(source& into, toml_value const& from) {
  if (from.truth()) into.unlinked.reset();
}

constexpr std::array<known_key<source>, 11> source_keys{{
    {"table", [](source& into, toml_value const& from) { into.table = name_in(from); }},
    {"key", [](source& into, toml_value const& from) { into.key = name_in(from); }},
    {"state", [](source& into, toml_value const& from) { into.state = name_in(from); }},
    {"free", [](source& into, toml_value const& from) { into.free = from.number_or_text(); }},
    {"taken", [](source& into, toml_value const& from) { into.taken = from.number_or_text(); }},
    {"settled", [](source& into, toml_value const& from) { into.settled = from.number_or_text(); }},
    {"link", [](source& into, toml_value const& from) { into.link = name_in(from); }},
    {"unlinked", [](source& into, toml_value const& from) { into.unlinked = from.text(); }},
    {"unlinked_null", read_unlinked_null},
    {"group", read_group},
    {"filter", [](source& into, toml_value const& from) { into.filter = from.text(); }},
}};

using parent = daybook::aggregation_parent;

constexpr std::array<known_key<parent>, 10> parent_keys{{
    {"table", [](parent& into, toml_value const& from) { into.table = name_in(from); }},
    {"key", [](parent& into, toml_value const& from) { into.key = name_in(from); }},
    {"state", [](parent& into, toml_value const& from) { into.state = name_in(from); }},
    {"open", [](parent& into, toml_value const& from) { into.open = from.number_or_text(); }},
    {"closed", [](parent& into, toml_value const& from) { into.closed = from.number_or_text(); }},
    {"settled", [](parent& into, toml_value const& from) { into.settled = from.number_or_text(); }},
    {"void", [](parent& into, toml_value const& from) { into.voided = from.number_or_text(); }},
    {"count", [](parent& into, toml_value const& from) { into.count = name_in(from); }},
    {"opening", [](parent& into, toml_value const& from) { into.opening = columns(from); }},
    {"following", [](parent& into, toml_value const& from) { into.following = columns(from); }},
}};

using declared = declared_aggregate;

void read_name(declared& into, toml_value const& from) {
  into.name = from.text();
  from.checked([&] { daybook::check_name("name of an aggregation", into.name); });
  from.checked([&] { daybook::check_name("name of its schedule", into.schedule()); });
}

/// At the same times of each day, so that it is known when it comes.
void read_every(declared& into, toml_value const& from) {
  auto const length = from.length(seconds{1}, hours{24});
  auto const parts = [length](milliseconds unit, milliseconds whole) {
    return length % unit == milliseconds{0} && whole % length == milliseconds{0};
  };
  if (length == hours{24}) {
    into.cron = daybook::cron("0 0 * * *");
  } else if (parts(hours{1}, hours{24})) {
    into.cron = daybook::cron::parse(fmt::format("0 */{} * * *", length / hours{1}));
  } else if (parts(minutes{1}, hours{1})) {
    into.cron = daybook::cron::parse(fmt::format("*/{} * * * *", length / minutes{1}));
  } else if (parts(seconds{1}, minutes{1})) {
    into.cron = daybook::cron::parse(fmt::format("*/{} * * * * *", length / seconds{1}));
  } else {
    from.wrong(fmt::format("{} does not divide a minute, an hour or a day; write cron instead",
                           text_of(length)));
  }
}

void read_cron(declared& into, toml_value const& from) {
  into.cron = from.checked([&] { return daybook::cron::parse(from.text()); });
  from.checked([&] { return into.cron->hashed(into.schedule()); });
}

void read_source(declared& into, toml_value const& from) {
  read_keys(into.options.source, from.table(), from.file(), from.name(), source_keys,
            {"table", "key", "state", "link", "group"});
}

void read_parent(declared& into, toml_value const& from) {
  read_keys(into.options.parent, from.table(), from.file(), from.name(), parent_keys,
            {"table", "key", "state"});
}

void read_sums(declared& into, toml_value const& from) {
  for (auto& [column, sum] : named(from, "a column, and that of its sum")) {
    into.options.sums.push_back({std::move(column), std::move(sum)});
  }
}

void read_allow_null(declared& into, toml_value const& from) {
  into.options.allow_null = from.truth();
}

void read_allow_negative(declared& into, toml_value const& from) {
  into.options.allow_negative = from.truth();
}

void read_chunk(declared& into, toml_value const& from) {
  into.options.chunk = static_cast<int>(from.number(1, 1'000'000));
}

void read_key_prefix(declared& into, toml_value const& from) {
  into.options.key_prefix = from.text();
}

/// In the order in which they are read: `H` in a cron expression is drawn from the name.
constexpr std::array<known_key<declared>, 13> aggregate_keys{{
    {"name", read_name},
    {"every", read_every},
    {"cron", read_cron},
    {"zone", [](declared& into, toml_value const& from) { into.zone = zone_of(from); }},
    {"source", read_source},
    {"parent", read_parent},
    {"sums", read_sums},
    {"allow_null", read_allow_null},
    {"allow_negative", read_allow_negative},
    {"chunk", read_chunk},
    {"key_prefix", read_key_prefix},
    {"fresh", [](declared& into, toml_value const& from) { into.fresh = from.truth(); }},
    {"close", [](declared& into, toml_value const& from) { into.close = from.truth(); }},
}};

/// The second of two keys that say the same thing.
void refuse_both(toml::table const& from, std::string_view file, std::string_view one,
                 std::string_view other) {
  if (!from.contains(one) || !from.contains(other)) return;
  auto const* const node = from.get(other);
  toml_value(file, other, *node).wrong(fmt::format("there is {} already", one));
}

}  // namespace

declared_aggregate read_aggregate(toml::table const& from, std::string_view file) {
  declared_aggregate out;
  out.place = place_in_file(file, from.source());
  read_keys(out, from, file, "an [[aggregate]]", aggregate_keys, {"name", "source", "parent"});
  refuse_both(from, file, "every", "cron");
  if (auto const* const rows = from.get_as<toml::table>("source")) {
    refuse_both(*rows, file, "unlinked", "unlinked_null");
  }
  if (from.contains("zone") && !out.cron) {
    toml_value(file, "zone", *from.get("zone")).wrong("it goes with every or cron");
  }
  return out;
}

}  // namespace command
