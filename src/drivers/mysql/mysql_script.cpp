#include "drivers/mysql/mysql_script.hpp"

#include <cctype>
#include <cstddef>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

std::size_t past(std::string_view text, std::size_t offset, std::string_view end) {
  auto const found = text.find(end, offset);
  return found == std::string_view::npos ? text.size() : found + end.size();
}

/// A doubled quote is two strings side by side for us. A backslash escapes, but not in a name.
std::size_t past_quoted(std::string_view text, std::size_t offset) {
  char const quote = text[offset];
  for (++offset; offset < text.size(); ++offset) {
    if (text[offset] == quote) return offset + 1;
    if (text[offset] == '\\' && quote != '`') ++offset;
  }
  return text.size();
}

/// Two dashes begin a comment only before a blank or the end: 1--1 is 2.
bool begins_line_comment(std::string_view rest) {
  if (rest.starts_with('#')) return true;
  if (!rest.starts_with("--")) return false;
  return rest.size() == 2 || std::isspace(static_cast<unsigned char>(rest[2])) != 0;
}

/// The server executes what stands in these.
bool is_executed_comment(std::string_view rest) {
  return rest.starts_with("/*!") || rest.starts_with("/*M!") || rest.starts_with("/*+");
}

}  // namespace

std::vector<std::string_view> split_mysql_script(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t start = 0;
  bool holds_something = false;
  auto const end_at = [&](std::size_t end) {
    if (holds_something) out.push_back(text.substr(start, end - start));
    start = end + 1;
    holds_something = false;
  };
  for (std::size_t at = 0; at < text.size();) {
    auto const rest = text.substr(at);
    char const here = rest.front();
    if (begins_line_comment(rest)) {
      at = past(text, at, "\n");
    } else if (rest.starts_with("/*")) {
      holds_something = holds_something || is_executed_comment(rest);
      at = past(text, at + 2, "*/");
    } else if (here == ';') {
      end_at(at++);
    } else if (here == '\'' || here == '"' || here == '`') {
      holds_something = true;
      at = past_quoted(text, at);
    } else {
      if (std::isspace(static_cast<unsigned char>(here)) == 0) holds_something = true;
      ++at;
    }
  }
  end_at(text.size());
  return out;
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
