// Sources of messages for RabbitMQ, and other brokers that speak AMQP 0-9-1: a queue, and a stream
// as a log. A library of its own, daybook-amqp, which needs rabbitmq-c.
// Thread safety: the functions are thread-safe; a source belongs to the thread that made it.
//
//   node.take_in("paid", daybook::amqp::queue_at("amqp://shop@localhost/shop", "paid-orders"));
#pragma once

#include <daybook/broker.hpp>
#include <daybook/detail/export.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace amqp {

struct connection_options {
  /// Instead of the one in the URL, which people see in lists of processes. Empty: none.
  std::string password = {};
  std::chrono::seconds connect_timeout{10};
  /// The broker counts as gone after two of them without a word. 2 s to 10 min.
  std::chrono::seconds heartbeat{30};
  /// Of certificates that an amqps:// broker may show; a file of PEM.
  std::string certificates = "/etc/ssl/certs/ca-certificates.crt";
};

// `url`: amqp://USER:PASSWORD@HOST:PORT/VHOST, or amqps://. Queues and streams must exist: nothing
// is declared. On failure the factory's call, and those of its source, throw daybook::error:
// unreachable, not_permitted (user, password, vhost), configuration (there is no such queue, or it
// is of the other kind). No message holds the password.

/// A quorum or classic queue. A message's id is its message-id, its key the routing key; headers
/// that are no text or number are left out. It is settled by basic.ack, and given back by
/// basic.nack with requeue.
[[nodiscard]] DAYBOOK_EXPORT broker::queue_factory queue_at(std::string_view url,
                                                            std::string_view queue,
                                                            connection_options options = {});

/// A stream, which has one partition, 0; a position is its offset. The same fields as of a queue.
/// The broker keeps no offset for us.
[[nodiscard]] DAYBOOK_EXPORT broker::log_factory stream_at(std::string_view url,
                                                           std::string_view stream,
                                                           connection_options options = {});

}  // namespace amqp
}  // namespace v1
}  // namespace daybook
