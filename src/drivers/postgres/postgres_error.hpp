// What PostgreSQL says went wrong, and what it means: one table from SQLSTATE to properties.
// Thread-safe.
#pragma once

#include "db/url.hpp"

#include <daybook/error.hpp>

#include <string>
#include <string_view>

#include <libpq-fe.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// What libpq or the server told us. Without an SQLSTATE it is libpq's own: the connection broke.
struct postgres_failure {
  std::string sqlstate = {};
  bool fatal = true;        ///< the session is over: what it was doing may be done
  bool stale_plan = false;  ///< a prepared statement that DDL has overtaken
  std::string cause = {};   ///< one line
};

/// Lines joined by "; ", each once, blanks trimmed.
[[nodiscard]] std::string one_line(std::string_view text);

/// What a server says without being asked.
struct postgres_notices {
  std::string last_words = {};  ///< of one that ended the session while we were silent
  bool unreplicated = false;    ///< the wait of a COMMIT for a synchronous standby was broken off
};
/// libpq's notice receiver; `self` is a postgres_notices. That a COMMIT was not waited for is known
/// by its place in the server, for its text is translated.
void hear_notice(void* self, ::PGresult const* notice);

/// From a result with an error; or, with null, from the state of the connection.
[[nodiscard]] postgres_failure read_failure(::PGresult const* result, ::PGconn const* connection);

/// From the text of a connection that could not be made (PQERRORS_VERBOSE), for which libpq keeps
/// no result.
[[nodiscard]] postgres_failure read_connect_failure(::PGconn const* connection);

/// The table.
[[nodiscard]] error_facts classify(postgres_failure const& failure);

/// "URL: cause: remedy".
[[nodiscard]] std::string describe(db::url const& where, postgres_failure const& failure);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
