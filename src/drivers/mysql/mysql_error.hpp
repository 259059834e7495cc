// What the numbers of MariaDB, MySQL and their client library mean.
// Thread-safe.
#pragma once

#include <daybook/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// Above 1900 the two servers give the same number to different errors.
enum class mysql_kind : std::uint8_t { mariadb, mysql };

/// How far a statement had come: it decides whether a lost reply leaves a doubt.
enum class mysql_stage : std::uint8_t {
  connect,
  harmless,    ///< nothing that could have committed was sent
  autocommit,  ///< a statement that commits by itself
  compound,    ///< one that ends with a COMMIT, which may have been done before it was stopped
  commit,
};

/// An error as the client library tells it.
struct mysql_problem {
  unsigned code = 0;
  std::string sqlstate;
  std::string cause;
};

[[nodiscard]] error_facts classify_mysql(mysql_problem const& problem, mysql_kind server,
                                         mysql_stage stage, std::string_view statement);
/// What a person can do about it; empty when nothing is known to help.
[[nodiscard]] std::string_view mysql_remedy(unsigned code, mysql_kind server,
                                            error_facts const& facts);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
