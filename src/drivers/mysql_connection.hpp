// A connection of libmariadb: how it is opened, and a socket of our own to cut it by.
// Thread safety: one thread at a time; mysql_socket from any.
#pragma once

#include "db/session.hpp"
#include "db/url.hpp"
#include "drivers/mysql_error.hpp"

#include <chrono>
#include <memory>

#include <mysql.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

/// The client library's state of the process and of this thread. Call before any other use:
/// sessions move between threads.
void prepare_mysql_thread();

struct close_mysql {
  void operator()(::MYSQL* what) const noexcept { ::mysql_close(what); }
};
using mysql_handle = std::unique_ptr<::MYSQL, close_mysql>;

struct mysql_wire_options {
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds reply_timeout{0};  ///< 0: none
};

/// On failure: throws daybook::error with url::shown, the cause and the remedy.
[[nodiscard]] mysql_handle open_mysql(db::url const& to, mysql_wire_options const& options);

[[nodiscard]] mysql_kind kind_of(::MYSQL& connection);
[[nodiscard]] mysql_problem problem_of(::MYSQL& connection);
[[nodiscard]] mysql_problem problem_of(::MYSQL_STMT& statement);

/// "URL: cause (error 1213, 40001): remedy", in one line and without the password.
[[nodiscard]] error mysql_error(mysql_problem const& what, error_facts const& facts,
                                mysql_kind server, db::url const& at);

/// A second descriptor of the connection's socket. The library may close its own at any moment,
/// and the number may then be another file's; ours stays, so that any thread may cut.
class mysql_socket {
 public:
  explicit mysql_socket(::MYSQL& of);
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
