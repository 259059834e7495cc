#include <daybook/names.hpp>

#include "base/text.hpp"

#include <daybook/error.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {

void check_name(std::string_view description, std::string_view text) {
  auto const bad = [&](std::string const& why) {
    throw error({.kind = error_code::bad_argument}, std::string(description) + " " + why);
  };
  auto const at = [](std::size_t byte) { return " (at byte " + std::to_string(byte) + ")"; };
  if (text.empty()) bad("is empty: give it 1 to 255 bytes");
  if (text.size() > longest_name) {
    bad("is " + std::to_string(text.size()) + " bytes long: at most 255 are allowed");
  }
  if (auto const byte = base::first_invalid_utf8(text); byte != std::string_view::npos) {
    bad("is not valid UTF-8" + at(byte) + ": convert it first");
  }
  if (auto const byte = base::first_control(text); byte != std::string_view::npos) {
    bad("holds a control character" + at(byte) + ": remove it");
  }
}

process::process(std::string name) : text_(std::move(name)) { check_name("process name", text_); }

key::key(std::string text) : text_(std::move(text)) { check_name("key", text_); }

}  // namespace v1
}  // namespace daybook
