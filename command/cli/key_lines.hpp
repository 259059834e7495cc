// Keys as text, one a line: the key itself, or {"key": "...", "payload": ...} in JSON.
// Thread safety: one thread.
#pragma once

#include <daybook/queue_options.hpp>

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace command {

enum class line_form { key, json };

class key_lines {
 public:
  /// `name` is for messages. Lifetime: `input` must outlive it.
  key_lines(std::string name, std::istream& input, line_form form);

  /// Empty: there are no more, or failure() says why. Lines with nothing but blanks are passed
  /// over.
  [[nodiscard]] std::optional<daybook::entry> next();

  struct problem {
    int code = 0;  ///< of exit_code
    std::string text;
  };
  /// What is wrong with the line that was read last: which file, which line, why.
  [[nodiscard]] std::optional<problem> const& failure() const noexcept { return failure_; }
  [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

 private:
  std::optional<std::string_view> line();
  void fail(int code, std::string const& why);

  std::string name_;
  std::istream* input_;
  line_form form_;
  std::vector<char> buffer_;
  std::int64_t number_ = 0;
  std::int64_t bytes_ = 0;
  std::optional<problem> failure_;
};

}  // namespace command
