// From a URL to a connection of libpq, within a bounded time, with errors that are classified.
// Thread-safe.
#pragma once

#include "db/session.hpp"
#include "db/url.hpp"
#include "drivers/postgres/postgres_wire.hpp"

#include <string>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// Tries the URL's hosts in their order, from the one on that answered last, and of each its
/// addresses, each for options.connect_timeout (or the URL's own connect_timeout). On failure:
/// throws daybook::error that names the cause of the last host, for each of its addresses.
[[nodiscard]] connection open_connection(db::url const& url, db::connect_options const& options);

/// For the doctor: how many servers that take writes the URL's hosts are.
[[nodiscard]] std::string writable_hosts(db::url const& url, db::connect_options const& options);

/// What our statements rely on, for the session's length: a script.
[[nodiscard]] std::string session_settings(db::connect_options const& options);
/// The same for a transaction's length: a query, after the transaction's begin_text().
[[nodiscard]] std::string local_settings(db::connect_options const& options);
[[nodiscard]] std::string begin_text(isolation level);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
