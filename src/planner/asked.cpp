#include "planner/asked.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace planners {

namespace {

constexpr std::array<std::string_view, 21> keywords{
    "as",    "cross", "distinct", "from",   "full",    "group", "having",
    "inner", "join",  "left",     "limit",  "natural", "on",    "only",
    "order", "outer", "right",    "select", "using",   "where", "with"};

bool is_keyword(std::string_view word) {
  return std::find(keywords.begin(), keywords.end(), word) != keywords.end();
}

bool ends_conditions(std::string_view word) {
  return word == "order" || word == "group" || word == "limit" || word == "having";
}

std::string small(std::string_view text) {
  std::string out(text);
  for (auto& one : out) one = static_cast<char>(std::tolower(static_cast<unsigned char>(one)));
  return out;
}

bool begins_word(char c) {
  auto const byte = static_cast<unsigned char>(c);
  return std::isalpha(byte) != 0 || c == '_' || byte >= 0x80;
}
bool in_word(char c) {
  return begins_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '$';
}
char end_of_quote(char c) {
  if (c == '[') return ']';
  return c == '"' || c == '`' ? c : '\0';
}

std::string_view last_part(std::string_view word) {
  auto const dot = word.rfind('.');
  return dot == std::string_view::npos ? word : word.substr(dot + 1);
}
std::string_view qualifier(std::string_view word) {
  auto const dot = word.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : word.substr(0, dot);
}

/// Goes through a query once.
class word_reader {
 public:
  explicit word_reader(std::string_view query) : rest_(query) {}

  std::vector<std::string> words() {
    std::vector<std::string> out;
    bool joins = false;  // a dot was read: the next word belongs to the last
    while (!rest_.empty()) {
      bool quoted = false;
      auto word = next(quoted);
      if (word.empty()) {
        if (!was_space_) joins = was_dot_ && !out.empty();
        continue;
      }
      if (std::exchange(joins, false)) {
        out.back() += "." + word;
      } else {
        auto lowered = small(word);
        out.push_back(!quoted && is_keyword(lowered) ? std::move(lowered) : std::move(word));
      }
    }
    return out;
  }

 private:
  /// A word; empty: something else, which is read over.
  std::string next(bool& quoted) {
    char const c = rest_.front();
    was_dot_ = c == '.';
    was_space_ = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (rest_.starts_with("--")) return skip(rest_.find('\n'), 1);
    if (rest_.starts_with("/*")) return skip(rest_.find("*/", 2), 2);
    if (c == '\'') return skip(rest_.find('\'', 1), 1);
    if (char const end = end_of_quote(c); end != '\0') {
      quoted = true;
      auto const at = rest_.find(end, 1);
      std::string out(rest_.substr(1, at == std::string_view::npos ? at : at - 1));
      skip(at, 1);
      return out;
    }
    auto const over = std::find_if_not(rest_.begin(), rest_.end(), in_word);
    auto const length = static_cast<std::size_t>(std::distance(rest_.begin(), over));
    auto const word = rest_.substr(0, length);
    rest_.remove_prefix(std::max<std::size_t>(length, 1));
    return begins_word(c) ? std::string(word) : std::string();
  }

  std::string skip(std::size_t found, std::size_t more) {
    rest_.remove_prefix(found == std::string_view::npos ? rest_.size() : found + more);
    return {};
  }

  std::string_view rest_;
  bool was_dot_ = false;
  bool was_space_ = false;
};

}  // namespace

std::vector<std::string> words_of(std::string_view query) { return word_reader(query).words(); }

std::string table_called(std::vector<std::string> const& words, std::string_view name) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (is_keyword(words[i])) continue;
    if (small(last_part(words[i])) == small(name)) return words[i];
    bool const as = words[i + 1] == "as" && i + 2 < words.size();
    if (small(words[as ? i + 2 : i + 1]) == small(name)) return words[i];
  }
  auto const same = [&](auto const& one) { return small(last_part(one)) == small(name); };
  auto const found = std::find_if(words.begin(), words.end(), same);
  return found == words.end() ? std::string(name) : *found;
}

std::vector<std::string> columns_asked(std::vector<std::string> const& words,
                                       std::string_view called,
                                       std::vector<std::string> const& columns) {
  std::vector<std::string> out;
  auto const add = [&](std::string const& word) {
    auto const of = qualifier(word);
    if (!of.empty() && small(last_part(of)) != small(last_part(called))) return;
    for (auto const& column : columns) {
      bool const same = small(column) == small(last_part(word));
      if (same && std::find(out.begin(), out.end(), column) == out.end()) out.push_back(column);
    }
  };
  for (auto const* const begins : {"where", "on"}) {
    if (!out.empty()) break;
    auto at = std::find(words.begin(), words.end(), begins);
    for (; at != words.end() && !ends_conditions(*at); ++at) add(*at);
  }
  auto const select = std::find(words.begin(), words.end(), "select");
  if (select == words.end()) return out;
  auto const key = std::find_if(std::next(select), words.end(),
                                [](auto const& one) { return one != "distinct"; });
  if (!out.empty() && key != words.end()) add(*key);
  return out;
}

}  // namespace planners
}  // namespace v1
}  // namespace daybook
