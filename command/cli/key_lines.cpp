#include "cli/key_lines.hpp"

#include "cli/exit.hpp"
#include "cli/format.hpp"

#include <daybook/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace command {

namespace {

using json = nlohmann::ordered_json;

/// A payload of 1 MiB, each byte of it written as \u0000, and a key.
constexpr std::size_t longest_line = std::size_t{8} << 20U;

constexpr std::size_t longest_payload = std::size_t{1} << 20U;

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// What a line cannot be.
struct mistake : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The library would refuse it, too, but with the whole piece that it stands in. That it is UTF-8
/// was seen when the line was read as JSON.
void check_payload(std::string_view text) {
  if (text.size() > longest_payload) {
    throw mistake("its payload has more than 1 MiB: keep it in a table of yours");
  }
  if (text.find('\0') != std::string_view::npos) {
    throw mistake("its payload has a zero byte: encode it first");
  }
}

daybook::entry entry_of(std::string_view line) {
  auto const object = json::parse(line, nullptr, false);
  if (!object.is_object()) throw mistake("no JSON object");
  for (auto const& [name, unused] : object.items()) {
    if (name != "key" && name != "payload") {
      throw mistake(fmt::format("'{}' is not known; there are key and payload", printable(name)));
    }
  }
  auto const found = object.find("key");
  if (found == object.end()) throw mistake("it has no key");
  if (!found->is_string() && !found->is_number_integer()) {
    throw mistake("its key is no text and no whole number");
  }
  daybook::entry out{daybook::key{found->is_string() ? found->get<std::string>() : found->dump()},
                     {}};
  auto const payload = object.find("payload");
  if (payload == object.end() || payload->is_null()) return out;
  out.payload = payload->is_string() ? payload->get<std::string>() : payload->dump();
  check_payload(*out.payload);
  return out;
}

/// A blank at an end is left from a table more often than meant, and nobody sees it in a list.
daybook::key key_in(std::string_view line) {
  if (line.starts_with(' ') || line.ends_with(' ')) {
    throw mistake(
        fmt::format("a blank at an end of the key '{}': remove it, or say with "
                    "--json-lines that it belongs to the key",
                    printable(line)));
  }
  return daybook::key{std::string(line)};
}

}  // namespace

key_lines::key_lines(std::string name, std::istream& input, line_form form)
    : name_(std::move(name)), input_(&input), form_(form), buffer_(longest_line + 2) {}

void key_lines::fail(int code, std::string const& why) {
  failure_ = {code, fmt::format("{}, line {}: {}", printable(name_), number_, why)};
}

std::optional<std::string_view> key_lines::line() {
  errno = 0;
  input_->getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  auto length = static_cast<std::size_t>(input_->gcount());
  bytes_ += static_cast<std::int64_t>(length);
  if (input_->bad()) {
    auto const why = errno == 0 ? std::string() : fmt::format(": {}", std::strerror(errno));
    ++number_;
    fail(exit_code::io, "cannot be read" + why);
    return {};
  }
  if (input_->fail() && length == 0) return {};
  ++number_;
  if (input_->fail()) {
    fail(exit_code::bad_data, fmt::format("longer than {} bytes", longest_line));
    return {};
  }
  if (!input_->eof()) --length;  // the line feed was counted
  std::string_view out(buffer_.data(), length);
  // Editors put it there to say that a file is UTF-8; no key begins with it.
  if (number_ == 1 && out.starts_with(byte_order_mark)) out.remove_prefix(byte_order_mark.size());
  if (out.ends_with('\r')) out.remove_suffix(1);
  return out;
}

std::optional<daybook::entry> key_lines::next() {
  while (auto const text = line()) {
    if (text->find_first_not_of(' ') == std::string_view::npos) continue;
    try {
      return form_ == line_form::json ? entry_of(*text) : daybook::entry{key_in(*text), {}};
    } catch (mistake const& e) {
      fail(exit_code::bad_data, e.what());
    } catch (daybook::error const& e) {
      fail(exit_code::bad_data, printable(e.what()));
    }
    return {};
  }
  return {};
}

}  // namespace command
