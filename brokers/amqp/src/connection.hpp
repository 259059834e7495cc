// One connection with one channel, and its deliveries. rabbitmq-c does nothing in the background:
// whoever owns a connection must read it, also for its heartbeats.
// Thread safety: one thread at a time.
#pragma once

#include <daybook/amqp.hpp>
#include <daybook/error.hpp>

#include <amqp.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace amqp {

/// Where a broker is. `shown` has no password.
struct address {
  std::string host;
  std::string user;
  std::string password;
  std::string vhost;
  std::string shown;
  int port = 0;
  bool tls = false;
};

/// On failure: daybook::error (error_code::bad_argument).
[[nodiscard]] address parse_url(std::string_view url, connection_options const& options);

/// A message, copied out of the client's buffers.
struct delivery {
  std::uint64_t tag = 0;
  std::int64_t offset = -1;  ///< of a stream
  std::string id;
  std::string key;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<timestamp> sent;
  bool redelivered = false;
};

/// How a consumer begins.
struct consumer_start {
  std::string queue;
  std::uint16_t prefetch = 0;
  /// Of a stream: "first", "last", or an offset. Empty: it is a queue.
  std::string offset = {};
};

class connection {
 public:
  /// On failure: throws daybook::error.
  connection(address const& to, connection_options const& options);
  connection(connection const&) = delete;
  connection& operator=(connection const&) = delete;
  /// What was not settled comes again.
  ~connection();

  /// How many messages the broker says that there are. On failure: error_code::configuration where
  /// there is no such queue.
  [[nodiscard]] std::int64_t ready(std::string const& queue);
  /// Deliveries come from now on.
  void consume(consumer_start const& start);
  /// The next delivery; empty: none came in that time. On failure: error_code::unreachable where
  /// the connection is gone, error_code::configuration where the broker ended the consumer.
  [[nodiscard]] std::optional<delivery> next(std::chrono::milliseconds wait);
  /// All deliveries up to this tag.
  void acknowledge(std::uint64_t up_to);
  void give_back(std::uint64_t up_to);
  /// To wait for something to read. Whether there is something already: next() without a wait.
  [[nodiscard]] int socket() const noexcept;

 private:
  void log_in(address const& to, connection_options const& options);
  void check(int status, std::string_view verb) const;
  void check(amqp_rpc_reply_t const& reply, std::string_view verb) const;
  void take_method(amqp_frame_t const& frame);
  void take_header(amqp_frame_t const& frame);
  [[noreturn]] void fail(error_code kind, std::string_view verb, std::string const& why) const;

  struct closes {
    void operator()(amqp_connection_state_t state) const noexcept;
  };
  std::unique_ptr<std::remove_pointer_t<amqp_connection_state_t>, closes> state_;
  std::string shown_;
  bool healthy_ = true;  ///< else closing it politely would wait for a broker that is gone
  delivery now_;
  std::uint64_t missing_ = 0;  ///< bytes of the body that are still to come
  bool in_message_ = false;
};

}  // namespace amqp
}  // namespace v1
}  // namespace daybook
