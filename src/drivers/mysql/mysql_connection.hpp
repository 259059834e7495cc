// A connection of libmariadb: how it is opened, and a socket of our own to cut it by.
// Thread safety: one thread at a time; mysql_socket from any.
#pragma once

#include "db/session.hpp"
#include "db/url.hpp"
#include "drivers/handle.hpp"
#include "drivers/mysql/mysql_error.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <mysql.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// The client library's state of the process and of this thread. Call before any other use:
/// sessions move between threads.
void prepare_mysql_thread();

using mysql_handle = std::unique_ptr<::MYSQL, end_of<::MYSQL, ::mysql_close>>;

/// While it lives, what this thread waits for on a connection of open_mysql() must come within
/// this time, or the connection breaks; 0: no limit. The library's own timeouts are fixed when it
/// connects, and the same for every statement.
class mysql_wait_limit {
 public:
  explicit mysql_wait_limit(std::chrono::milliseconds from_now) noexcept;
  mysql_wait_limit(mysql_wait_limit const&) = delete;
  mysql_wait_limit& operator=(mysql_wait_limit const&) = delete;
  ~mysql_wait_limit();

 private:
  std::optional<std::chrono::steady_clock::time_point> before_;
};

struct mysql_wire_options {
  std::chrono::milliseconds connect_timeout{10'000};  ///< for each of the host's addresses
  std::chrono::milliseconds reply_timeout{0};         ///< 0: none
};

/// On failure: throws daybook::error with url::shown, the cause and the remedy.
[[nodiscard]] mysql_handle open_mysql(db::url const& url, mysql_wire_options const& options);

/// The database that a URL names. On failure: daybook::error (error_code::bad_argument) where it
/// names none, or one that cannot stand in our SQL.
[[nodiscard]] std::string schema_of(db::url const& url);

[[nodiscard]] mysql_kind kind_of(::MYSQL& connection);
[[nodiscard]] mysql_problem problem_of(::MYSQL& connection);
[[nodiscard]] mysql_problem problem_of(::MYSQL_STMT& statement);

/// "URL: cause (error 1213, 40001): remedy", in one line and without the password.
[[nodiscard]] error mysql_error(mysql_problem const& problem, error_facts const& facts,
                                mysql_kind server, db::url const& url);

/// A second descriptor of the connection's socket. The library may close its own at any moment,
/// and the number may then be another file's; ours stays, so that any thread may cut.
class mysql_socket {
 public:
  explicit mysql_socket(::MYSQL& connection);
  mysql_socket(mysql_socket const&) = delete;
  mysql_socket& operator=(mysql_socket const&) = delete;
  ~mysql_socket();

  /// No byte of ours reaches the server any more, nor one of its ours.
  void cut() const noexcept;
  /// The server, or the network as far as the kernel knows, has ended the connection.
  [[nodiscard]] bool ended() const noexcept;

 private:
  int descriptor_ = -1;
};

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
