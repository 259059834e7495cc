#include "config/toml_value.hpp"

#include "cli/exit.hpp"
#include "cli/format.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace command {

using std::chrono::milliseconds;

std::string place_in_file(std::string_view file, toml::source_region const& where) {
  return fmt::format("{}, line {}, column {}", printable(file), where.begin.line,
                     where.begin.column);
}

void wrong_in_file(std::string_view file, toml::source_region const& where,
                   std::string_view reason) {
  throw complaint(exit_code::bad_data,
                  fmt::format("{}: {}", place_in_file(file, where), printable(reason)));
}

void toml_value::wrong(std::string_view reason) const {
  wrong_in_file(file_, node_->source(), fmt::format("{}: {}", name_, reason));
}

std::string toml_value::text() const {
  auto const* const text = node_->as_string();
  if (text == nullptr) wrong("a text is wanted, in quotes");
  return text->get();
}

std::int64_t toml_value::number(std::int64_t low, std::int64_t high) const {
  auto const* const number = node_->as_integer();
  if (number == nullptr) wrong("a whole number is wanted, without quotes");
  if (number->get() < low || number->get() > high) {
    wrong(fmt::format("{} is not from {} to {}", number->get(), low, high));
  }
  return number->get();
}

bool toml_value::truth() const {
  auto const* const truth = node_->as_boolean();
  if (truth == nullptr) wrong("true or false is wanted, without quotes");
  return truth->get();
}

std::variant<std::int64_t, std::string> toml_value::number_or_text() const {
  if (auto const* const number = node_->as_integer()) return number->get();
  if (auto const* const text = node_->as_string()) return text->get();
  wrong("a whole number is wanted, or a text in quotes");
}

milliseconds toml_value::length(milliseconds low, milliseconds high) const {
  auto const given = node_->is_string() ? text() : std::string{};
  auto const length = duration_from(given);
  if (!length) {
    wrong(
        "a length of time is wanted, a whole number and a unit in quotes: \"500ms\", \"30s\", "
        "\"10m\", \"2h\" or \"1d\"");
  }
  if (*length < low || *length > high) {
    wrong(fmt::format("{} is not from {} to {}", given, text_of(low), text_of(high)));
  }
  return *length;
}

std::vector<std::pair<std::string, toml_value>> toml_value::texts() const {
  auto const* const all = node_->as_array();
  if (all == nullptr) wrong("an array of texts is wanted: [\"one\", \"two\"]");
  std::vector<std::pair<std::string, toml_value>> out;
  for (auto const& one : *all) {
    toml_value const value(file_, name_, one);
    out.emplace_back(value.text(), value);
  }
  return out;
}

toml::table const& toml_value::table() const {
  auto const* const table = node_->as_table();
  if (table == nullptr) wrong("a table is wanted: { NAME = value }");
  return *table;
}

std::vector<std::pair<std::string, std::string>> toml_value::named_texts() const {
  auto const* const all = node_->as_table();
  if (all == nullptr) wrong("a table of texts is wanted: { NAME = \"text\" }");
  std::vector<std::pair<toml::key const*, toml::node const*>> nodes;
  for (auto const& [name, node] : *all) nodes.emplace_back(&name, &node);
  std::sort(nodes.begin(), nodes.end(), [](auto const& one, auto const& other) {
    return one.first->source().begin < other.first->source().begin;
  });
  std::vector<std::pair<std::string, std::string>> out;
  for (auto const& [name, node] : nodes) {
    out.emplace_back(std::string(name->str()), toml_value(file_, name_, *node).text());
  }
  return out;
}

}  // namespace command
