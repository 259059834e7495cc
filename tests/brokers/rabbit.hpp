// A RabbitMQ server of the tests' own, below the library: queues and streams are made, filled,
// looked at and deleted.
// Thread safety: one thread.
#pragma once

#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace brokers {

class rabbit {
 public:
  /// On failure: throws std::runtime_error, also where no server was started for the tests.
  rabbit() : state_(amqp_new_connection()) {
    std::string text = url();
    amqp_connection_info info{};
    amqp_default_connection_info(&info);
    amqp_parse_url(text.data(), &info);
    auto* const socket = amqp_tcp_socket_new(state_);
    if (amqp_socket_open(socket, info.host, info.port) != AMQP_STATUS_OK) fail("connect");
    check(amqp_login(state_, info.vhost, 0, 131'072, 0, AMQP_SASL_METHOD_PLAIN, info.user,
                     info.password),
          "log in");
    amqp_channel_open(state_, 1);
    check(amqp_get_rpc_reply(state_), "open a channel");
    amqp_confirm_select(state_, 1);
    check(amqp_get_rpc_reply(state_), "ask for confirms");
  }
  rabbit(rabbit const&) = delete;
  rabbit& operator=(rabbit const&) = delete;
  ~rabbit() { amqp_destroy_connection(state_); }

  static std::string url() {
    char const* const set = std::getenv("DAYBOOK_TEST_RABBITMQ");
    if (set == nullptr) {
      throw std::runtime_error(
          "DAYBOOK_TEST_RABBITMQ is not set: start the servers (tests/servers/servers start DIR "
          "--only rabbitmq) and read DIR/env");
    }
    return set;
  }

  /// `type`: quorum, stream or classic.
  void declare(std::string const& queue, char const* type) {
    std::array<amqp_table_entry_t, 1> arguments{};
    arguments[0].key = amqp_cstring_bytes("x-queue-type");
    arguments[0].value.kind = AMQP_FIELD_KIND_UTF8;
    arguments[0].value.value.bytes = amqp_cstring_bytes(type);
    amqp_queue_declare(state_, 1, bytes(queue), 0, 1, 0, 0, {1, arguments.data()});
    check(amqp_get_rpc_reply(state_), "declare");
  }
  void remove(std::string const& queue) {
    amqp_queue_delete(state_, 1, bytes(queue), 0, 0);
    check(amqp_get_rpc_reply(state_), "delete");
  }
  /// Messages that nobody has taken, as the broker sees it.
  std::int64_t ready(std::string const& queue) {
    auto const* const answer =
        amqp_queue_declare(state_, 1, bytes(queue), 1, 0, 0, 0, amqp_empty_table);
    check(amqp_get_rpc_reply(state_), "look at");
    return answer->message_count;
  }

  /// Returns when the broker has it on disk.
  void publish(std::string const& queue, std::string const& id, std::string const& body) {
    amqp_basic_properties_t properties{};
    properties._flags =
        AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_HEADERS_FLAG;
    properties.message_id = bytes(id);
    properties.delivery_mode = 2;
    std::array<amqp_table_entry_t, 1> headers{};
    headers[0].key = amqp_cstring_bytes("kind");
    headers[0].value.kind = AMQP_FIELD_KIND_UTF8;
    headers[0].value.value.bytes = amqp_cstring_bytes("test");
    properties.headers = {1, headers.data()};
    if (amqp_basic_publish(state_, 1, amqp_empty_bytes, bytes(queue), 0, 0, &properties,
                           bytes(body)) != AMQP_STATUS_OK) {
      fail("publish");
    }
    amqp_frame_t frame;
    if (amqp_simple_wait_frame(state_, &frame) != AMQP_STATUS_OK ||
        frame.frame_type != AMQP_FRAME_METHOD || frame.payload.method.id != AMQP_BASIC_ACK_METHOD) {
      fail("have confirmed");
    }
    amqp_maybe_release_buffers(state_);
  }

 private:
  static amqp_bytes_t bytes(std::string const& text) {
    return {text.size(), const_cast<char*>(text.data())};  // NOLINT: it is not written
  }
  [[noreturn]] static void fail(std::string const& verb) {
    throw std::runtime_error("the test's RabbitMQ: cannot " + verb);
  }
  static void check(amqp_rpc_reply_t const& reply, std::string const& verb) {
    if (reply.reply_type != AMQP_RESPONSE_NORMAL) fail(verb);
  }

  amqp_connection_state_t state_;
};

}  // namespace brokers
