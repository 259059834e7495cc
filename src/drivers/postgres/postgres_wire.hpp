// libpq's pieces, owned: connections, results, values on their way there and back, and the round
// trip that carries several messages at once.
// Thread safety: one thread at a time.
#pragma once

#include "base/bell.hpp"
#include "db/session.hpp"
#include "drivers/handle.hpp"

#include <daybook/sql.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

struct clear_result {
  void operator()(::PGresult* handle) const noexcept { ::PQclear(handle); }
};
struct free_cancel {
  void operator()(::PGcancel* handle) const noexcept { ::PQfreeCancel(handle); }
};
struct free_memory {
  void operator()(void* handle) const noexcept { ::PQfreemem(handle); }
};
struct free_options {
  void operator()(::PQconninfoOption* handle) const noexcept { ::PQconninfoFree(handle); }
};
using connection = std::unique_ptr<::PGconn, end_of<::PGconn, ::PQfinish>>;
using result = std::unique_ptr<::PGresult, clear_result>;
using cancel_key = std::unique_ptr<::PGcancel, free_cancel>;

/// Until when to wait; empty: for ever, within what keepalives find out.
using patience = std::optional<std::chrono::steady_clock::time_point>;

/// False when the time is over first.
[[nodiscard]] bool wait_for_socket(int socket, short events, patience const& until);

/// A notification for a session that listens, which is thrown away. False when the time is over
/// first, or the bell is rung. An error of the connection counts as one: the next use tells of it.
[[nodiscard]] bool wait_for_notification(::PGconn& connection, patience const& until,
                                         base::bell const& unless);

/// The values of one statement, or of one row. On failure: daybook::error
/// (error_code::bad_argument) for a text with a zero byte, which libpq would cut there, and for
/// more than 1 GiB altogether: the server takes no longer message, and libpq counts in int.
void check_values(std::span<value const> values);

/// Values as libpq takes them. Text and numbers travel as text, bytes as they are.
class parameters {
 public:
  /// On failure: as check_values().
  explicit parameters(std::span<value const> values);

  [[nodiscard]] int count() const noexcept { return static_cast<int>(types_.size()); }
  [[nodiscard]] std::vector<::Oid> const& types() const noexcept { return types_; }
  [[nodiscard]] char const* const* values() const noexcept { return values_.data(); }
  [[nodiscard]] int const* lengths() const noexcept { return lengths_.data(); }
  [[nodiscard]] int const* formats() const noexcept { return formats_.data(); }

 private:
  void add(value const& value);

  std::vector<std::string> texts_;  // reserved once: values_ points into it
  std::vector<::Oid> types_;
  std::vector<char const*> values_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
};

/// The rows and the count of a result without error.
[[nodiscard]] db::table to_table(::PGresult* result);

/// What came back for what was sent.
struct answer {
  std::vector<result> results;  ///< for each message, as far as the server came
  bool whole = false;           ///< false: the connection broke, or the time was over
  bool late = false;            ///< the time was over
  /// The first that is an error, or null.
  [[nodiscard]] ::PGresult const* error() const noexcept;
  /// Its place, or, where there is none, that of the first message without an answer.
  [[nodiscard]] std::size_t failed_at() const noexcept;
};

/// Messages that are sent together and answered together: libpq's pipeline mode. After the first
/// error the server skips the rest. Outside a transaction they are one.
class round_trip {
 public:
  explicit round_trip(::PGconn& connection);

  void query(char const* text);
  void query(std::string const& text, parameters const& values);
  void prepare(std::string const& name, std::string const& text, std::vector<::Oid> const& types);
  void execute(std::string const& name, parameters const& values);
  /// How many messages so far: the index of the next one's result.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] answer finish(patience const& until);

 private:
  void sent(int flags) noexcept;

  ::PGconn* connection_;
  bool possible_;
  std::size_t size_ = 0;
};

/// Waits until libpq has the next result, or an error of the connection. False when the time is
/// over first.
[[nodiscard]] bool wait_for_result(::PGconn& connection, patience const& until);
/// Sends what libpq has kept back on a connection that does not block. False when the time is over
/// first; an error of the connection is told by the next result.
[[nodiscard]] bool send_all(::PGconn& connection, patience const& until);
/// Reads to the end of a query.
[[nodiscard]] answer read_answer(::PGconn& connection, patience const& until);

/// Several statements in one text, by the simple protocol.
[[nodiscard]] answer run_script(::PGconn& connection, std::string const& text,
                                patience const& until);

/// Whether the connection still stands, as far as the socket knows without asking the server.
[[nodiscard]] bool still_connected(::PGconn& connection);
/// Ends the conversation without another byte to the server.
void cut_socket(::PGconn const& connection) noexcept;

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
