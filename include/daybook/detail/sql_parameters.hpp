// Where a statement's named parameters are: read alike when a literal is compiled and when its
// placeholders are written.
// Thread safety: values.
//
//   for (daybook::sql_parameters found(text, daybook::sql_quoting::standard); found.next();) {
//     use(found.name());
//   }
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace daybook {
inline namespace v1 {

/// What ends a quoted text, and what is a comment.
enum class sql_quoting : std::uint8_t {
  standard,  ///< PostgreSQL, SQLite
  mariadb,   ///< a backslash takes the next character with it, `#` begins a comment
};

/// The places of `:name` in a statement, from the first to the last. Strings, quoted identifiers,
/// dollar quotes, comments and `::` are passed over.
class sql_parameters {
 public:
  constexpr sql_parameters(std::string_view text, sql_quoting quoting) noexcept
      : text_(text), quoting_(quoting) {}

  /// Goes on to the next one. False: there are no more.
  constexpr bool next() noexcept {
    for (at_ = end_; at_ < text_.size();) {
      if (auto const end = past_untouched(); end > at_) {
        at_ = end;
      } else if (text_[at_] == ':' && starts_word(peek(1))) {
        end_ = past_word(at_ + 1);
        return true;
      } else {
        ++at_;
      }
    }
    end_ = at_;
    return false;
  }
  /// Of the place that next() has found: its name, where its colon stands, and where it ends.
  [[nodiscard]] constexpr std::string_view name() const noexcept {
    return text_.substr(at_ + 1, end_ - at_ - 1);
  }
  [[nodiscard]] constexpr std::size_t begin() const noexcept { return at_; }
  [[nodiscard]] constexpr std::size_t end() const noexcept { return end_; }

  [[nodiscard]] static constexpr bool in_word(char c) noexcept {
    return starts_word(c) || (c >= '0' && c <= '9');
  }

 private:
  [[nodiscard]] static constexpr bool starts_word(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  /// The character so far behind the place; a blank behind the end.
  [[nodiscard]] constexpr char peek(std::size_t ahead) const noexcept {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : ' ';
  }
  [[nodiscard]] constexpr std::size_t past_word(std::size_t start) const noexcept {
    while (start < text_.size() && in_word(text_[start])) ++start;
    return start;
  }
  [[nodiscard]] constexpr std::size_t past(std::size_t start, std::string_view end) const noexcept {
    auto const found = text_.find(end, start);
    return found == std::string_view::npos ? text_.size() : found + end.size();
  }
  /// Where what is not ours to touch ends; the place itself when a parameter or plain text is
  /// there.
  [[nodiscard]] constexpr std::size_t past_untouched() const noexcept {
    switch (text_[at_]) {
      case '\'':
      case '"':
      case '`': return past_quote();
      case '-': return peek(1) == '-' ? past(at_, "\n") : at_;
      case '#': return quoting_ == sql_quoting::mariadb ? past(at_, "\n") : at_;
      case '/': return peek(1) == '*' ? past(at_ + 2, "*/") : at_;
      case ':': return peek(1) == ':' || peek(1) == '=' ? at_ + 2 : at_;
      // A dollar inside a word belongs to it.
      case '$': return at_ == 0 || !in_word(text_[at_ - 1]) ? past_dollar_quote() : at_;
      default: return at_;
    }
  }
  /// A doubled quote goes on, as in every engine: it ends one text and begins the next.
  [[nodiscard]] constexpr std::size_t past_quote() const noexcept {
    char const quote = text_[at_];
    bool const backslash = quoting_ == sql_quoting::mariadb && quote != '`';
    for (auto end = at_ + 1; end < text_.size(); ++end) {
      if (text_[end] == quote) return end + 1;
      if (backslash && text_[end] == '\\') ++end;
    }
    return text_.size();
  }
  /// PostgreSQL's $tag$ ... $tag$; not the start of one: just past the dollar.
  [[nodiscard]] constexpr std::size_t past_dollar_quote() const noexcept {
    auto const end = past_word(at_ + 1);
    if (end >= text_.size() || text_[end] != '$') return at_ + 1;
    return past(end + 1, text_.substr(at_, end + 1 - at_));
  }

  std::string_view text_;
  sql_quoting quoting_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
};

/// How many names a statement has; `Enough` stands for all that are not fewer.
template <std::size_t Enough>
[[nodiscard]] constexpr std::size_t count_parameters(std::string_view text,
                                                     sql_quoting quoting) noexcept {
  std::array<std::string_view, Enough> names{};
  std::size_t count = 0;
  for (sql_parameters found(text, quoting); count < Enough && found.next();) {
    std::size_t known = 0;
    while (known < count && names[known] != found.name()) ++known;
    if (known == count) names[count++] = found.name();
  }
  return count;
}

}  // namespace v1
}  // namespace daybook
