#include "settings.hpp"

#include "exit.hpp"
#include "format.hpp"

#include <fmt/format.h>

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace command {

namespace {

constexpr char const* file_name = "daybook.toml";

[[noreturn]] void wrong(toml::source_region const& where, std::string_view what) {
  throw complaint(exit_code::bad_data,
                  fmt::format("{}, line {}, column {}: {}", file_name, where.begin.line,
                              where.begin.column, printable(what)));
}

toml::table parsed(std::string const& text) {
  try {
    return toml::parse(std::string_view(text), std::string_view(file_name));
  } catch (toml::parse_error const& e) {
    wrong(e.source(), e.description());
  }
}

}  // namespace

settings read_settings() {
  errno = 0;
  std::ifstream file(file_name);
  if (!file) {
    if (errno == ENOENT) return {};
    throw complaint(exit_code::io, fmt::format("{}: {}", file_name, std::strerror(errno)));
  }
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw complaint(exit_code::io, fmt::format("{}: cannot be read", file_name));
  settings out;
  for (auto const& [name, value] : parsed(text)) {
    if (name != "database") {
      wrong(name.source(), fmt::format("'{}' is not known; there is: database", name.str()));
    }
    out.database = value.value_exact<std::string>();
    if (!out.database) wrong(value.source(), "database is a URL: database = \"sqlite:shop.db\"");
  }
  return out;
}

}  // namespace command
