#include "cli/format.hpp"

#include "cli/exit.hpp"
#include "cli/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include <unistd.h>

namespace command {

namespace {

using daybook::run_state;

constexpr std::array<run_state, 8> states{
    run_state::ready,       run_state::running,         run_state::succeeded, run_state::failed,
    run_state::interrupted, run_state::deadline_passed, run_state::unknown,   run_state::discarded};

[[noreturn]] void cannot_write() {
  throw complaint(exit_code::io, fmt::format("cannot write to stdout: {}", std::strerror(errno)));
}

/// How many columns the text takes, near enough: continuation bytes of UTF-8 take none.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

/// A character that steers a terminal, or lets a text read as another one.
struct unsafe_character {
  unsigned code = 0;
  std::size_t length = 0;  ///< in bytes; 0: there is none
};

/// The control characters (C0, DEL, C1), the ends of lines of Unicode, and what turns the direction
/// of a text.
unsafe_character unsafe_in_front(std::string_view text) {
  auto const byte = [&](std::size_t offset) -> unsigned {
    return offset < text.size() ? static_cast<unsigned char>(text[offset]) : 0U;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return {byte(0), 1};
  bool const two = byte(0) == 0xc2 || byte(0) == 0xd8;
  if (!two && byte(0) != 0xe2) return {};
  auto const tail = [&](std::size_t offset) { return byte(offset) & 0x3fU; };
  if (two) {
    auto const code = ((byte(0) & 0x1fU) << 6U) | tail(1);
    bool const is_c1 = byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0;
    bool const is_mark = byte(0) == 0xd8 && byte(1) == 0x9c;  // U+061C
    return is_c1 || is_mark ? unsafe_character{code, 2} : unsafe_character{};
  }
  auto const code = 0x2000U | (tail(1) << 6U) | tail(2);
  bool const whole = (byte(1) == 0x80 || byte(1) == 0x81) && (byte(2) & 0xc0U) == 0x80;
  bool const turns = code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
                     (code >= 0x2066 && code <= 0x2069);
  return whole && turns ? unsafe_character{code, 3} : unsafe_character{};
}

std::string date_and_time(daybook::timestamp when) {
  auto const day = std::chrono::floor<std::chrono::days>(when);
  std::chrono::year_month_day const date{day};
  std::chrono::hh_mm_ss const time{std::chrono::floor<std::chrono::seconds>(when - day)};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count());
}

}  // namespace

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) cannot_write();
}

std::string json_line(nlohmann::ordered_json const& object) {
  auto const text = object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size() + 1);
  // Only texts in quotes hold such characters, and JSON has the same name for them.
  for (std::string_view rest = text; !rest.empty();) {
    auto const found = unsafe_in_front(rest);
    if (found.code != 0) {
      out += fmt::format("\\u{:04x}", found.code);
    } else {
      out.push_back(rest.front());
    }
    rest.remove_prefix(found.code != 0 ? found.length : 1);
  }
  return out + "\n";
}

void print_json(nlohmann::ordered_json const& object) { print(json_line(object)); }

void finish_output() {
  if (std::fflush(stdout) != 0) cannot_write();
}

void say(std::string_view text) noexcept {
  try {
    auto const line = fmt::format("daybook: {}\n", text);
    // One write, so that the lines of our threads and of the child stay whole.
    [[maybe_unused]] auto const written = ::write(STDERR_FILENO, line.data(), line.size());
  } catch (std::exception const&) {
    return;  // nobody is left to tell
  }
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    auto const found = unsafe_in_front(text);
    if (found.length == 1) {
      out += fmt::format("\\x{:02x}", found.code);
    } else if (found.length > 1) {
      out += fmt::format("\\u{:04x}", found.code);
    } else {
      out.push_back(text.front());
    }
    text.remove_prefix(std::max<std::size_t>(found.length, 1));
  }
  return out;
}

namespace {

/// Not within a character of UTF-8: a part of one goes with the other side.
bool begins_character(std::string_view text, std::size_t offset) {
  return offset >= text.size() || (static_cast<unsigned char>(text[offset]) & 0xc0U) != 0x80U;
}

}  // namespace

std::string shortened(std::string_view text, std::size_t size) {
  auto const shown = printable(text);
  if (shown.size() <= size) return shown;
  auto end = size - 3;
  while (end > 0 && !begins_character(shown, end)) --end;
  return shown.substr(0, end) + "...";
}

std::string shortened_error(std::string_view text, std::size_t size) {
  auto const shown = printable(text);
  if (shown.size() <= size) return shown;
  auto const front = size / 3;
  auto from = shown.size() - (size - front);
  while (!begins_character(shown, from)) ++from;
  return shortened(text, front) + shown.substr(from);
}

std::string iso(daybook::timestamp when) {
  auto const second = std::chrono::floor<std::chrono::seconds>(when);
  return fmt::format("{}.{:06}Z", date_and_time(when), (when - second).count());
}

std::string seconds_of(daybook::timestamp when) { return date_and_time(when) + "Z"; }

std::string seconds_of(std::optional<daybook::timestamp> const& when) {
  return when ? seconds_of(*when) : "-";
}

nlohmann::ordered_json json_of(std::optional<daybook::timestamp> const& when) {
  return when ? nlohmann::ordered_json(iso(*when)) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json json_of(std::vector<daybook::change_info> const& changes) {
  auto out = nlohmann::ordered_json::array();
  for (auto const& one : changes) {
    out.push_back({{"at", iso(one.at)},
                   {"actor", one.actor},
                   {"action", one.action},
                   {"reason", one.reason},
                   {"detail", one.detail}});
  }
  return out;
}

void print_changes(std::vector<daybook::change_info> const& changes) {
  if (changes.empty()) return;
  print(fmt::format("\nchanged by people: {}\n", changes.size()));
  table rows({"  AT", "WHO", "WHAT", "", "WHY"});
  for (auto const& one : changes) {
    rows.add({"  " + seconds_of(one.at), printable(one.actor), one.action, printable(one.detail),
              printable(one.reason)});
  }
  rows.print();
}

std::string instant(daybook::timestamp when) {
  bool const whole = std::chrono::floor<std::chrono::seconds>(when) == when;
  return whole ? seconds_of(when) : iso(when);
}

std::string there_are(std::vector<std::string> names, std::string_view given) {
  constexpr std::size_t most = 20;
  if (names.empty()) return {};
  auto const near = names;
  bool const more = names.size() > most;
  if (more) names.resize(most);
  for (auto& one : names) one = printable(one);
  return list_of(given, near,
                 fmt::format("{}{}", fmt::join(names, ", "), more ? " and others" : ""));
}

void print_field(std::string_view name, std::string_view value) {
  print(fmt::format("{:<15} {}\n", name, value));
}

std::optional<run_state> state_from(std::string_view text) noexcept {
  for (auto const known : states) {
    if (text == word_of(known) || text == std::to_string(static_cast<int>(known))) return known;
  }
  return {};
}

std::string state_words() {
  std::string out;
  for (auto const known : states) {
    out +=
        fmt::format("{}{} ({})", out.empty() ? "" : ", ", word_of(known), static_cast<int>(known));
  }
  return out;
}

void table::print() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (auto const& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  for (auto const& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - width_of(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    command::print(line + "\n");
  }
}

}  // namespace command
