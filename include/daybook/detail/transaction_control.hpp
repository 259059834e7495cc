// Which statements begin, end or steer a transaction. The library does that itself, so daybook::sql
// refuses such a literal when it is compiled.
// Thread safety: functions of values.
#pragma once

#include <cstddef>
#include <string_view>

namespace daybook {
inline namespace v1 {

/// The words of a statement one after the other, in small letters by same(). Blanks, comments,
/// semicolons and parentheses before a word are passed over; of MariaDB's executable comments
/// (`/*! ... */`) only the marks are.
class statement_words {
 public:
  constexpr explicit statement_words(std::string_view text) noexcept : rest_(text) {}

  /// Empty at the end, and where something else than a word comes next.
  constexpr std::string_view next() noexcept {
    skip();
    std::size_t size = 0;
    while (size < rest_.size() && in_word(rest_[size])) ++size;
    auto const word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return word;
  }
  [[nodiscard]] static constexpr bool same(std::string_view word, std::string_view small) noexcept {
    return word.size() == small.size() && starts(word, small);
  }
  [[nodiscard]] static constexpr bool starts(std::string_view word,
                                             std::string_view small) noexcept {
    if (word.size() < small.size()) return false;
    for (std::size_t at = 0; at < small.size(); ++at) {
      char const c = word[at];
      if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c) != small[at]) {
        return false;
      }
    }
    return true;
  }

 private:
  [[nodiscard]] static constexpr bool in_word(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  constexpr void skip() noexcept {
    while (!rest_.empty()) {
      auto const end = rest_.starts_with("--") || rest_.front() == '#' ? past("\n")
                       : rest_.starts_with("/*!")                      ? std::size_t{3}
                       : rest_.starts_with("/*M!")                     ? std::size_t{4}
                       : rest_.starts_with("/*")                       ? past("*/")
                       : is_blank(rest_.front())                       ? std::size_t{1}
                                                                       : std::size_t{0};
      if (end == 0) return;
      bool const executable = end > 2 && (end == 3 || end == 4) && rest_[end - 1] == '!';
      rest_.remove_prefix(end);
      // The version that such a comment is for.
      while (executable && !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
        rest_.remove_prefix(1);
      }
    }
  }
  [[nodiscard]] static constexpr bool is_blank(char c) noexcept {
    return c == ' ' || (c >= '\t' && c <= '\r') || c == ';' || c == '(' || c == '"' || c == '`';
  }
  [[nodiscard]] constexpr std::size_t past(std::string_view end) const noexcept {
    auto const found = rest_.find(end);
    return found == std::string_view::npos ? rest_.size() : found + end.size();
  }

  std::string_view rest_;
};

/// Whether the statement begins or ends a transaction, or sets what the whole of it is. Savepoints
/// are the body's own to use, except those whose name begins with `daybook_`.
[[nodiscard]] constexpr bool controls_transaction(std::string_view statement) noexcept {
  using words = statement_words;
  words rest(statement);
  auto const first = rest.next();
  auto const is = [&](std::string_view small) { return words::same(first, small); };
  auto const ours = [&](std::string_view name) {
    if (words::same(name, "savepoint")) name = rest.next();
    return words::starts(name, "daybook_");
  };
  if (is("commit") || is("abort") || is("end") || is("xa")) return true;
  auto second = rest.next();
  auto const goes_on = [&](std::string_view small) { return words::same(second, small); };
  if (is("begin")) return !goes_on("not");  // MariaDB's block of statements
  if (is("rollback")) {
    if (goes_on("work") || goes_on("transaction")) second = rest.next();
    return !goes_on("to") || ours(rest.next());
  }
  if (is("savepoint")) return words::starts(second, "daybook_");
  if (is("release")) return ours(second);
  if (is("start") || is("prepare")) return goes_on("transaction");
  if (is("lock") || is("unlock")) return goes_on("tables");
  if (!is("set")) return false;
  if (goes_on("session") || goes_on("local")) {
    bool const local = goes_on("local");
    second = rest.next();
    return goes_on("autocommit") || (local && goes_on("transaction"));
  }
  return goes_on("transaction") || goes_on("autocommit");
}

}  // namespace v1
}  // namespace daybook
