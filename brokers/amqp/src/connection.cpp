#include "connection.hpp"

#include <amqp_framing.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <sys/time.h>

#include <array>
#include <charconv>
#include <limits>

namespace daybook {
inline namespace v1 {
namespace amqp {

namespace {

constexpr amqp_channel_t channel = 1;
constexpr int longest_frame = 131'072;

std::string text_of(amqp_bytes_t const& bytes) {
  return bytes.len == 0 ? std::string()
                        : std::string(static_cast<char const*>(bytes.bytes), bytes.len);
}

amqp_bytes_t bytes_of(std::string const& text) {
  // The client takes it as not const, and does not write.
  return {text.size(), const_cast<char*>(text.data())};  // NOLINT
}

timeval timeval_of(std::chrono::milliseconds length) {
  return {.tv_sec = static_cast<time_t>(length.count() / 1000),
          .tv_usec = static_cast<suseconds_t>(length.count() % 1000 * 1000)};
}

std::optional<std::int64_t> number_of(amqp_field_value_t const& value) {
  switch (value.kind) {
    case AMQP_FIELD_KIND_I8: return value.value.i8;
    case AMQP_FIELD_KIND_U8: return value.value.u8;
    case AMQP_FIELD_KIND_I16: return value.value.i16;
    case AMQP_FIELD_KIND_U16: return value.value.u16;
    case AMQP_FIELD_KIND_I32: return value.value.i32;
    case AMQP_FIELD_KIND_U32: return value.value.u32;
    case AMQP_FIELD_KIND_I64: return value.value.i64;
    case AMQP_FIELD_KIND_U64:
      if (value.value.u64 > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return std::nullopt;
      }
      return static_cast<std::int64_t>(value.value.u64);
    default: return std::nullopt;
  }
}

amqp_table_entry_t entry_of(char const* name, bool yes) {
  amqp_table_entry_t out;
  out.key = amqp_cstring_bytes(name);
  out.value.kind = AMQP_FIELD_KIND_BOOLEAN;
  out.value.value.boolean = yes ? 1 : 0;
  return out;
}

/// What the broker said when it closed; and what that means.
std::pair<int, std::string> reason_of(amqp_method_t const& method) {
  if (method.id == AMQP_CONNECTION_CLOSE_METHOD) {
    auto const& close = *static_cast<amqp_connection_close_t*>(method.decoded);
    return {close.reply_code, text_of(close.reply_text)};
  }
  if (method.id == AMQP_CHANNEL_CLOSE_METHOD) {
    auto const& close = *static_cast<amqp_channel_close_t*>(method.decoded);
    return {close.reply_code, text_of(close.reply_text)};
  }
  return {0, std::string("it answered with ") + amqp_method_name(method.id)};
}

error_code kind_of(int reply_code) {
  switch (reply_code) {
    case AMQP_ACCESS_REFUSED:
    case AMQP_NOT_ALLOWED: return error_code::not_permitted;
    case AMQP_NOT_FOUND:
    case AMQP_PRECONDITION_FAILED:
    case AMQP_RESOURCE_LOCKED:
    case AMQP_NOT_IMPLEMENTED: return error_code::configuration;
    default: return error_code::unreachable;
  }
}

}  // namespace

address parse_url(std::string_view url, connection_options const& options) {
  std::string text(url);
  amqp_connection_info info{};
  amqp_default_connection_info(&info);
  if (amqp_parse_url(text.data(), &info) != AMQP_STATUS_OK) {
    throw error({.kind = error_code::bad_argument},
                "the URL of a broker is amqp://USER:PASSWORD@HOST:PORT/VHOST, or amqps://");
  }
  address out{.host = info.host,
              .user = info.user,
              .password = options.password.empty() ? info.password : options.password,
              .vhost = info.vhost,
              .shown = {},
              .port = info.port,
              .tls = info.ssl != 0};
  out.shown = std::string(out.tls ? "amqps://" : "amqp://") + out.user + "@" + out.host + ":" +
              std::to_string(out.port) + (out.vhost == "/" ? "" : "/" + out.vhost);
  return out;
}

void connection::closes::operator()(amqp_connection_state_t state) const noexcept {
  amqp_destroy_connection(state);
}

connection::connection(address const& to, connection_options const& options)
    : state_(amqp_new_connection()), shown_(to.shown) {
  auto* const socket =
      to.tls ? amqp_ssl_socket_new(state_.get()) : amqp_tcp_socket_new(state_.get());
  if (socket == nullptr) fail(error_code::internal, "connect", "no memory for a socket");
  if (to.tls) {
    amqp_ssl_socket_set_verify_peer(socket, 1);
    amqp_ssl_socket_set_verify_hostname(socket, 1);
    if (amqp_ssl_socket_set_cacert(socket, options.certificates.c_str()) != AMQP_STATUS_OK) {
      fail(error_code::configuration, "connect",
           "the file of certificates cannot be read: " + options.certificates);
    }
  }
  auto const patience = timeval_of(options.connect_timeout);
  check(amqp_socket_open_noblock(socket, to.host.c_str(), to.port, &patience), "connect");
  amqp_set_rpc_timeout(state_.get(), &patience);  // else every answer is waited for without end
  log_in(to, options);
  amqp_channel_open(state_.get(), channel);
  check(amqp_get_rpc_reply(state_.get()), "open a channel");
}

void connection::log_in(address const& to, connection_options const& options) {
  // Else a queue that is deleted is a consumer that hears nothing any more.
  std::array<amqp_table_entry_t, 1> able{entry_of("consumer_cancel_notify", true)};
  std::array<amqp_table_entry_t, 1> all{};
  all[0].key = amqp_cstring_bytes("capabilities");
  all[0].value.kind = AMQP_FIELD_KIND_TABLE;
  all[0].value.value.table = {able.size(), able.data()};
  amqp_table_t const properties{all.size(), all.data()};
  auto const reply = amqp_login_with_properties(
      state_.get(), to.vhost.c_str(), 1, longest_frame, static_cast<int>(options.heartbeat.count()),
      &properties, AMQP_SASL_METHOD_PLAIN, to.user.c_str(), to.password.c_str());
  // Brokers that say nothing close the socket at a wrong password.
  if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION &&
      reply.library_error == AMQP_STATUS_CONNECTION_CLOSED) {
    fail(error_code::not_permitted, "log in", "it closed the connection: is the password right?");
  }
  check(reply, "log in");
}

connection::~connection() {
  if (!healthy_) return;
  timeval const soon{.tv_sec = 2, .tv_usec = 0};
  amqp_set_rpc_timeout(state_.get(), &soon);
  amqp_connection_close(state_.get(), AMQP_REPLY_SUCCESS);
}

void connection::fail(error_code kind, std::string_view verb, std::string const& why) const {
  throw error({.kind = kind, .retryable = kind == error_code::unreachable},
              "broker " + shown_ + ": cannot " + std::string(verb) + ": " + why);
}

void connection::check(int status, std::string_view verb) const {
  if (status == AMQP_STATUS_OK) return;
  const_cast<connection*>(this)->healthy_ = false;  // NOLINT
  bool const certificate = status == AMQP_STATUS_SSL_PEER_VERIFY_FAILED ||
                           status == AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED;
  fail(certificate ? error_code::configuration : error_code::unreachable, verb,
       amqp_error_string2(status));
}

void connection::check(amqp_rpc_reply_t const& reply, std::string_view verb) const {
  switch (reply.reply_type) {
    case AMQP_RESPONSE_NORMAL: return;
    case AMQP_RESPONSE_LIBRARY_EXCEPTION: return check(reply.library_error, verb);
    case AMQP_RESPONSE_SERVER_EXCEPTION: {
      const_cast<connection*>(this)->healthy_ = false;  // NOLINT
      auto const [code, why] = reason_of(reply.reply);
      fail(kind_of(code), verb, why);
    }
    default: fail(error_code::internal, verb, "no answer");
  }
}

std::int64_t connection::ready(std::string const& queue) {
  auto const* const answer =
      amqp_queue_declare(state_.get(), channel, bytes_of(queue), 1, 0, 0, 0, amqp_empty_table);
  check(amqp_get_rpc_reply(state_.get()), "find queue '" + queue + "'");
  return answer->message_count;
}

void connection::consume(consumer_start const& start) {
  amqp_basic_qos(state_.get(), channel, 0, start.prefetch, 0);
  check(amqp_get_rpc_reply(state_.get()), "set the prefetch");
  std::array<amqp_table_entry_t, 1> from{};
  amqp_table_t arguments = amqp_empty_table;
  if (!start.offset.empty()) {
    from[0].key = amqp_cstring_bytes("x-stream-offset");
    std::int64_t offset = 0;
    auto const* const end = start.offset.data() + start.offset.size();
    if (std::from_chars(start.offset.data(), end, offset).ptr == end) {
      from[0].value.kind = AMQP_FIELD_KIND_I64;
      from[0].value.value.i64 = offset;
    } else {
      from[0].value.kind = AMQP_FIELD_KIND_UTF8;
      from[0].value.value.bytes = bytes_of(start.offset);
    }
    arguments = {from.size(), from.data()};
  }
  amqp_basic_consume(state_.get(), channel, bytes_of(start.queue), amqp_empty_bytes, 0, 0, 0,
                     arguments);
  check(amqp_get_rpc_reply(state_.get()), "consume '" + start.queue + "'");
}

int connection::socket() const noexcept { return amqp_get_sockfd(state_.get()); }

std::optional<delivery> connection::next(std::chrono::milliseconds wait) {
  auto const until = std::chrono::steady_clock::now() + wait;
  for (;;) {
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    auto const limit = timeval_of(std::max(left, std::chrono::milliseconds{0}));
    amqp_frame_t frame;
    auto const status = amqp_simple_wait_frame_noblock(state_.get(), &frame, &limit);
    if (status == AMQP_STATUS_TIMEOUT) return std::nullopt;
    check(status, "read");
    if (frame.frame_type == AMQP_FRAME_METHOD) {
      take_method(frame);
    } else if (frame.frame_type == AMQP_FRAME_HEADER) {
      take_header(frame);
    } else if (frame.frame_type == AMQP_FRAME_BODY) {
      now_.body += text_of(frame.payload.body_fragment);
      missing_ -= std::min<std::uint64_t>(missing_, frame.payload.body_fragment.len);
    }
    if (in_message_ && missing_ == 0 && frame.frame_type != AMQP_FRAME_METHOD) {
      in_message_ = false;
      amqp_maybe_release_buffers_on_channel(state_.get(), channel);
      return std::move(now_);
    }
  }
}

void connection::take_method(amqp_frame_t const& frame) {
  auto const& method = frame.payload.method;
  switch (method.id) {
    case AMQP_BASIC_DELIVER_METHOD: {
      auto const& deliver = *static_cast<amqp_basic_deliver_t*>(method.decoded);
      now_ = {};
      now_.tag = deliver.delivery_tag;
      now_.key = text_of(deliver.routing_key);
      now_.redelivered = deliver.redelivered != 0;
      in_message_ = true;
      return;
    }
    case AMQP_BASIC_CANCEL_METHOD:
      fail(error_code::configuration, "consume", "the queue was deleted, or its node has gone");
    case AMQP_CHANNEL_CLOSE_METHOD:
    case AMQP_CONNECTION_CLOSE_METHOD: {
      healthy_ = false;
      auto const [code, why] = reason_of(method);
      fail(kind_of(code), "consume", why);
    }
    default: return;  // of no use to a consumer
  }
}

void connection::take_header(amqp_frame_t const& frame) {
  missing_ = frame.payload.properties.body_size;
  now_.body.reserve(missing_);
  auto const& properties = *static_cast<amqp_basic_properties_t*>(frame.payload.properties.decoded);
  auto const has = [&](amqp_flags_t flag) { return (properties._flags & flag) != 0; };
  if (has(AMQP_BASIC_MESSAGE_ID_FLAG)) now_.id = text_of(properties.message_id);
  if (has(AMQP_BASIC_TIMESTAMP_FLAG)) {
    now_.sent = timestamp(std::chrono::seconds(properties.timestamp));
  }
  if (!has(AMQP_BASIC_HEADERS_FLAG)) return;
  for (int i = 0; i < properties.headers.num_entries; ++i) {
    auto const& entry = properties.headers.entries[i];
    auto name = text_of(entry.key);
    if (entry.value.kind == AMQP_FIELD_KIND_UTF8) {
      now_.headers.emplace_back(std::move(name), text_of(entry.value.value.bytes));
    } else if (auto const number = number_of(entry.value)) {
      if (name == "x-stream-offset") now_.offset = *number;
      now_.headers.emplace_back(std::move(name), std::to_string(*number));
    }
  }
}

void connection::acknowledge(std::uint64_t up_to) {
  check(amqp_basic_ack(state_.get(), channel, up_to, 1), "settle");
}

void connection::give_back(std::uint64_t up_to) {
  check(amqp_basic_nack(state_.get(), channel, up_to, 1, 1), "give back");
}

}  // namespace amqp
}  // namespace v1
}  // namespace daybook
