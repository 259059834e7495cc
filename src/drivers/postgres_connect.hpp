// From a URL to a connection of libpq, within a bounded time, with errors that are classified.
// Thread-safe.
#pragma once

#include "db/session.hpp"
#include "db/url.hpp"
#include "drivers/postgres_wire.hpp"

namespace daybook {
inline namespace v1 {
namespace drivers {

/// Tries the URL's hosts in their order, each for options.connect_timeout (or the URL's own
/// connect_timeout). On failure: throws daybook::error that names the last host's cause.
[[nodiscard]] connection open_connection(db::url const& to, db::connect_options const& options);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
