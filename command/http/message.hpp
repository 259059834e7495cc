// A request and its answer as plain values, and the one way to refuse a request.
// Thread safety: values.
//
//   throw refusal(404, "missing", "The book has no queue stock.");
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace command {

struct http_request {
  std::string method;
  std::string target;  ///< as it was sent
  /// Names in lower case, values without blanks around them.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string peer;  ///< the address at the other end of the connection
  bool is_tls = false;

  /// The first of that name, which is in lower case.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept;
};

struct http_answer {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  bool close = false;  ///< the connection, after it
};

/// A request that is not done. `code` is for programs and never changes; the text is for people.
class refusal : public std::runtime_error {
 public:
  refusal(int status, std::string code, std::string const& detail)
      : std::runtime_error(detail), status_(status), code_(std::move(code)) {}
  [[nodiscard]] int status() const noexcept { return status_; }
  [[nodiscard]] std::string const& code() const noexcept { return code_; }

 private:
  int status_;
  std::string code_;
};

/// The title that goes with a code.
[[nodiscard]] std::string_view title_of(std::string_view code) noexcept;
/// As application/problem+json (RFC 9457).
[[nodiscard]] http_answer answer_of(refusal const& refused);

}  // namespace command
