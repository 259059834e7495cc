#include <daybook/zone.hpp>

#include "calendar/tzif.hpp"
#include "calendar/zone_table.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace daybook {
inline namespace v1 {

namespace {

using std::chrono::floor;
using std::chrono::microseconds;
using std::chrono::seconds;

/// Letters, digits, `_`, `+`, `-`, in parts between slashes: never out of the folder.
bool is_name(std::string_view text) {
  constexpr std::size_t longest = 64;
  if (text.empty() || text.size() > longest) return false;
  char before = '/';
  for (char const c : text) {
    bool const letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    bool const other = (c >= '0' && c <= '9') || c == '_' || c == '+' || c == '-';
    if (before == '/' ? !letter : !letter && !other && c != '/') return false;
    before = c;
  }
  return before != '/';
}

std::string folder() {
  char const* const named = std::getenv("TZDIR");  // NOLINT(concurrency-mt-unsafe): only read
  return named != nullptr && *named != '\0' ? named : "/usr/share/zoneinfo";
}

[[noreturn]] void refuse(error_code kind, std::string_view name, std::string const& why) {
  // A name that is none may hold anything.
  std::string shown;
  for (char const c : name.substr(0, 64)) shown += c >= ' ' && c <= '~' ? c : '?';
  throw error({.kind = kind}, "time zone '" + shown + "' " + why);
}

std::string read_file(std::string const& name, std::string const& path) {
  errno = 0;
  std::ifstream input(path, std::ios::binary);
  std::string bytes;
  // The largest of IANA's has 4 KiB.
  constexpr std::size_t largest = 1U << 20U;
  if (input) {
    std::array<char, 4096> piece{};
    while (bytes.size() <= largest &&
           (input.read(piece.data(), piece.size()), input.gcount() > 0)) {
      bytes.append(piece.data(), static_cast<std::size_t>(input.gcount()));
    }
  }
  int const why = errno;
  if (input.is_open() && !input.bad() && why != EISDIR) return bytes;
  if (why == ENOENT || why == ENOTDIR || why == EISDIR) {
    refuse(error_code::bad_argument, name,
           "is not in " + folder() + ": write it as 'Europe/Berlin', or install tzdata");
  }
  refuse(error_code::io, name,
         "cannot be read from " + path + " (" + std::generic_category().message(why) +
             "): see who may read it");
}

std::shared_ptr<calendar::zone_table const> read_table(std::string const& name) {
  if (!is_name(name))
    refuse(error_code::bad_argument, name, "is no name: write it as 'Europe/Berlin'");
  if (name == "UTC") {
    static auto const utc = std::make_shared<calendar::zone_table const>();
    return utc;
  }
  if (name == "localtime") {
    refuse(error_code::bad_argument, name,
           "is another zone on each machine: name the one you mean");
  }
  auto const path = folder() + "/" + name;
  auto read = calendar::read_tzif(read_file(name, path));
  if (!read.table) {
    refuse(error_code::configuration, name,
           "is broken in " + path + ": " + std::string(read.broken) +
               ". Install tzdata again, or set TZDIR to a whole copy of it");
  }
  return std::make_shared<calendar::zone_table const>(std::move(*read.table));
}

}  // namespace

zone::zone() : zone("UTC") {}

zone::zone(std::string name) : name_(std::move(name)), table_(read_table(name_)) {}

zone::zone(std::string name, std::shared_ptr<calendar::zone_table const> table)
    : name_(std::move(name)), table_(std::move(table)) {}

wall_time zone::to_local(timestamp instant) const {
  auto const found = table_->at(floor<seconds>(instant));
  auto const& kind = table_->kind(found.kind);
  return {.time = local_timestamp{instant.time_since_epoch() + kind.offset},
          .offset = kind.offset,
          .abbreviation = kind.abbreviation,
          .daylight = kind.daylight};
}

local_meaning zone::to_instants(local_timestamp local) const {
  // Where UTC shows what is meant, clocks are at most a stretch or two away from it.
  timestamp const as_utc{local.time_since_epoch()};
  auto const second = floor<seconds>(as_utc);
  local_meaning found{.comes = local_meaning::kind::never, .first = {}, .second = {}};
  auto at = table_->at(second - calendar::most_offset);
  for (;; at = table_->at(at.end)) {
    if (second - at.offset >= at.begin && second - at.offset < at.end) {
      auto const instant = as_utc - at.offset;
      bool const again = found.comes == local_meaning::kind::once;
      found.comes = again ? local_meaning::kind::twice : local_meaning::kind::once;
      if (!again) found.first = instant;
      found.second = instant;
      if (again) return found;
    } else if (found.comes == local_meaning::kind::never && second - at.offset >= at.end &&
               second - at.after < at.end) {
      found.first = found.second = at.end;
    }
    bool const beyond = at.end > second + calendar::most_offset;
    if (beyond || at.end >= calendar::after_time) return found;
  }
}

}  // namespace v1
}  // namespace daybook
