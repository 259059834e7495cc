// libpq and nothing else: prepared statements, text in and binary out, and a pipeline.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <libpq-fe.h>

namespace bench {

using postgres_result = std::unique_ptr<PGresult, decltype(&PQclear)>;

/// On failure, everywhere: std::runtime_error with the server's message.
class postgres_link {
 public:
  explicit postgres_link(std::string const& url);

  void prepare(char const* name, std::string const& text);
  /// At once, one answer.
  postgres_result run(char const* name, std::initializer_list<std::string_view> values);
  postgres_result text(std::string const& statement);

  /// Between `pipeline` and `end`: sent together, one round trip, and one transaction unless BEGIN
  /// says otherwise. Each `answer` is that of one `send`.
  void pipeline();
  void send(char const* name, std::initializer_list<std::string_view> values);
  void sync();
  postgres_result answer();
  void end();

  [[nodiscard]] PGconn* raw() const { return on_.get(); }

 private:
  [[noreturn]] void fail() const;
  postgres_result good(PGresult* raw) const;

  std::unique_ptr<PGconn, decltype(&PQfinish)> on_;
};

/// Of a binary int8 column.
[[nodiscard]] std::int64_t big(PGresult const* of, int row, int column);
[[nodiscard]] std::string_view words(PGresult const* of, int row, int column);

/// "{1,2,3}"
template <class Items, class Text>
std::string array_of(Items const& items, Text text) {
  std::string out = "{";
  for (auto const& one : items) {
    if (out.size() > 1) out += ',';
    out += text(one);
  }
  return out + "}";
}

}  // namespace bench
