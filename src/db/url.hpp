// URLs of databases, taken apart; and shown again without their password.
// Thread safety: values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace db {

enum class scheme : std::uint8_t { sqlite, postgres, mysql };

struct url {
  db::scheme scheme{};
  std::string original;  ///< as given: PostgreSQL's goes to libpq whole
  /// The only form for people: without a password, nor any parameter's value but what is known to
  /// be harmless.
  std::string shown;
  std::string path;  ///< SQLite: the file, or ":memory:". Else the database, decoded.
  // MariaDB and MySQL, decoded; PostgreSQL leaves these to libpq.
  std::string user;
  std::string password;
  std::string host;
  std::uint16_t port = 0;  ///< 0: the default
  std::map<std::string, std::string> parameters;
};

/// On failure: throws daybook::error (error_code::bad_argument); the message says what is wrong and
/// what would be right, and never repeats a password.
[[nodiscard]] url parse_url(std::string_view text);

/// `text` with every password of `url` (as given and decoded), and every parameter's value that is
/// not shown, masked: for other libraries' messages. A short secret, and one that could be a word
/// or a number of the message, is masked only where it is quoted or the value of something.
[[nodiscard]] std::string without_password(std::string text, url const& url);

}  // namespace db
}  // namespace v1
}  // namespace daybook
