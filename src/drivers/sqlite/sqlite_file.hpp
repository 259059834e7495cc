// Whether the file of a SQLite connection is still the one at its path. A file that was deleted, or
// replaced by another, takes all that is written to it, and nobody ever finds it again.
// Thread safety: that of the connection.
#pragma once

#include <string>
#include <string_view>

struct sqlite3;

namespace daybook {
inline namespace v1 {
namespace drivers {

/// The names of books in memory (daybook/testing.hpp): shared by the sessions of one process.
inline constexpr std::string_view memory_name = "file:/daybook-memory-";

[[nodiscard]] bool file_moved(::sqlite3& connection) noexcept;
/// Throws daybook::error (error_code::unreachable, retryable) with the remedy. `shown`: the
/// database.
[[noreturn]] void refuse_moved_file(std::string const& shown);
/// Whether a file that this process has used is not there any more: to open it would make another.
[[nodiscard]] bool file_missing(std::string const& path) noexcept;

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
