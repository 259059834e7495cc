#include "cli/format.hpp"

#include "cli/exit.hpp"

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

void print_json(nlohmann::ordered_json const& object) {
  print(object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

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
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto const byte = static_cast<unsigned char>(text[at]);
    auto const next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0U;
    // C2 80 to C2 9F are the C1 control characters.
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      out += fmt::format("\\u{:04x}", next);
      ++at;
    } else {
      out.push_back(text[at]);
    }
  }
  return out;
}

namespace {

/// Not within a character of UTF-8: a part of one goes with the other side.
bool begins_character(std::string_view text, std::size_t at) {
  return at >= text.size() || (static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80U;
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

std::string there_are(std::vector<std::string> names) {
  constexpr std::size_t most = 20;
  if (names.empty()) return {};
  bool const more = names.size() > most;
  if (more) names.resize(most);
  for (auto& one : names) one = printable(one);
  return fmt::format("there are {}{}", fmt::join(names, ", "), more ? " and others" : "");
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
