#include "settings.hpp"

#include "exit.hpp"
#include "format.hpp"
#include "read_schedule.hpp"
#include "toml_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace command {

namespace {

toml::table parsed(std::string const& text, std::string const& file) {
  try {
    return toml::parse(std::string_view(text), std::string_view(file));
  } catch (toml::parse_error const& e) {
    wrong_in_file(file, e.source(), e.description());
  }
}

void read_schedules(settings& into, toml::node const& from, std::string const& file) {
  auto const* const all = from.as_array();
  if (all == nullptr || !all->is_homogeneous<toml::table>()) {
    wrong_in_file(file, from.source(), "a schedule is a table in double brackets: [[schedule]]");
  }
  for (auto const& one : *all) {
    auto declared = read_schedule(*one.as_table(), file);
    bool const known = std::any_of(into.schedules.begin(), into.schedules.end(),
                                   [&](auto const& other) { return other.name == declared.name; });
    if (known) {
      wrong_in_file(file, one.as_table()->get("name")->source(),
                    fmt::format("name: there is a schedule '{}' above", declared.name));
    }
    into.schedules.push_back(std::move(declared));
  }
}

}  // namespace

settings read_settings(std::string const& file) {
  errno = 0;
  std::ifstream in(file);
  if (!in) {
    if (errno == ENOENT) return {};
    throw complaint(exit_code::io, fmt::format("{}: {}", printable(file), std::strerror(errno)));
  }
  std::string const text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) {
    throw complaint(exit_code::io, fmt::format("{}: cannot be read", printable(file)));
  }
  settings out;
  for (auto const& [name, value] : parsed(text, file)) {
    if (name == "database") {
      out.database = value.value_exact<std::string>();
      if (!out.database) {
        wrong_in_file(file, value.source(), "database is a URL: database = \"sqlite:shop.db\"");
      }
    } else if (name == "schedule") {
      read_schedules(out, value, file);
    } else {
      wrong_in_file(
          file, name.source(),
          fmt::format("'{}' is not known; there are database and [[schedule]]", name.str()));
    }
  }
  return out;
}

}  // namespace command
