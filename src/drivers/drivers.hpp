// The factories of sessions. Nobody includes this but src/book.cpp.
#pragma once

#include "db/session.hpp"
#include "db/url.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace daybook {
inline namespace v1 {
namespace drivers {

// Each connects at once. On failure: throws daybook::error (error_code::unreachable, not_permitted,
// bad_argument, ...) with url::shown, the cause and the remedy.

[[nodiscard]] db::dialect const& sqlite_dialect() noexcept;
/// `must_exist`: a file that is not there is not made, but refused (error_code::unreachable).
[[nodiscard]] std::unique_ptr<db::session> connect_sqlite(db::url const& url,
                                                          db::connect_options const& options,
                                                          bool must_exist = false);
[[nodiscard]] db::dialect const& postgres_dialect() noexcept;
[[nodiscard]] std::unique_ptr<db::session> connect_postgres(db::url const& url,
                                                            db::connect_options const& options);
[[nodiscard]] db::dialect const& mysql_dialect() noexcept;
[[nodiscard]] std::unique_ptr<db::session> connect_mysql(db::url const& url,
                                                         db::connect_options const& options);

// The same over a handle of the application's. Its settings stay as they are: what we need is set
// for the length of a transaction, or asked for.

/// What the application hears when the session is gone; may be empty, must not throw.
template <class N>
using give_back = std::function<void(N*, bool broken)>;

/// Whose transactions run on an adopted handle.
enum class transactions : std::uint8_t {
  ours,          ///< none is open, and the session begins and ends its own
  applications,  ///< one is open, and the application ends it: begin() and commit() are refused
};

// Each looks at the handle and at what we rely on. On failure: throws daybook::error
// (error_code::bad_argument, configuration, read_only or unreachable) that names the fact and the
// remedy, and calls `after` with the handle.

[[nodiscard]] std::unique_ptr<db::session> adopt(::sqlite3& handle, transactions mode,
                                                 db::connect_options const& options,
                                                 give_back<::sqlite3> after = {});
[[nodiscard]] std::unique_ptr<db::session> adopt(::pg_conn& handle, transactions mode,
                                                 db::connect_options const& options,
                                                 give_back<::pg_conn> after = {});
[[nodiscard]] std::unique_ptr<db::session> adopt(::st_mysql& handle, transactions mode,
                                                 db::connect_options const& options,
                                                 give_back<::st_mysql> after = {});

/// The database behind a handle, for people: "postgresql://shop@db:5432/shop".
[[nodiscard]] std::string shown(::sqlite3& handle);
[[nodiscard]] std::string shown(::pg_conn& handle);
[[nodiscard]] std::string shown(::st_mysql& handle);

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
