#include "output/journal.hpp"

#include "cli/format.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <chrono>
#include <string>

#include <unistd.h>

namespace command {

namespace {

using json = nlohmann::ordered_json;

/// 2026-11-21T09:18:25.123Z
std::string now() {
  auto text = iso(std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()));
  return text.replace(text.size() - 4, 4, "Z");
}

/// As it is where it is one word, else in quotes.
std::string word_of(json const& value) {
  if (!value.is_string()) return value.dump();
  auto const& raw = value.get_ref<std::string const&>();
  auto const text = printable(raw);
  if (!text.empty() && text.find_first_of(" \"='\\") == std::string::npos) return text;
  std::string out = "\"";
  // Before what is not printable is: its backslashes are none of the text's.
  for (char const c : raw) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return printable(out) + '"';
}

std::string text_of(std::string_view level, std::string_view event, json const& fields) {
  auto out = fmt::format("{} {} {}", now(), level, event);
  for (auto const& [name, value] : fields.items()) {
    if (!value.is_null()) out += fmt::format(" {}={}", name, word_of(value));
  }
  return out + "\n";
}

std::string json_of(std::string_view level, std::string_view event, json const& fields) {
  json out{{"at", now()}, {"level", level}, {"event", event}};
  out.update(fields);
  return json_line(out);
}

}  // namespace

void journal::write(std::string_view level, std::string_view event, json const& fields) noexcept {
  try {
    auto const line =
        form_ == form::json ? json_of(level, event, fields) : text_of(level, event, fields);
    std::lock_guard const alone(one_line_);
    std::string_view rest = line;
    while (!rest.empty()) {
      auto const written = ::write(STDERR_FILENO, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;  // nobody is left to tell
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  } catch (std::exception const&) {
    return;
  }
}

void journal::info(std::string_view event, json const& fields) noexcept {
  write("info", event, fields);
}

void journal::warning(std::string_view event, json const& fields) noexcept {
  write("warning", event, fields);
}

void journal::error(std::string_view event, json const& fields) noexcept {
  write("error", event, fields);
}

}  // namespace command
