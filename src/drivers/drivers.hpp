// The three factories. Nobody includes this but src/book.cpp.
#pragma once

#include "db/session.hpp"
#include "db/url.hpp"

#include <memory>

namespace daybook {
inline namespace v1 {
namespace drivers {

// Each connects at once. On failure: throws daybook::error (fault::unreachable, not_permitted,
// bad_argument, ...) with url::shown, the cause and the remedy.

[[nodiscard]] db::dialect const& sqlite_dialect() noexcept;
[[nodiscard]] std::unique_ptr<db::session> connect_sqlite(db::url const& to,
                                                          db::connect_options const& options);
[[nodiscard]] db::dialect const& postgres_dialect() noexcept;
[[nodiscard]] std::unique_ptr<db::session> connect_postgres(db::url const& to,
                                                            db::connect_options const& options);
[[nodiscard]] db::dialect const& mysql_dialect() noexcept;
[[nodiscard]] std::unique_ptr<db::session> connect_mysql(db::url const& to,
                                                         db::connect_options const& options);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
