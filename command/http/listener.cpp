#include "http/listener.hpp"

#include "cli/exit.hpp"
#include "http/head.hpp"

#include <fmt/format.h>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

#include <array>
#include <chrono>
#include <ctime>
#include <map>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace command {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::seconds head_time{10};
constexpr std::chrono::seconds body_time{30};
constexpr std::chrono::seconds idle_time{60};
constexpr std::size_t longest_body = std::size_t{1} << 20U;

/// As RFC 9110 has it: "Sat, 21 Nov 2026 09:18:25 GMT".
std::string http_date() {
  auto const now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  constexpr std::array<std::string_view, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
                     days.at(static_cast<std::size_t>(parts.tm_wday)), parts.tm_mday,
                     months.at(static_cast<std::size_t>(parts.tm_mon)), parts.tm_year + 1900,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

/// On each answer, whatever it is: an answer that had none would be the one to attack.
constexpr std::string_view fixed_headers =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src "
    "'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n";
constexpr std::string_view tls_headers = "Strict-Transport-Security: max-age=31536000\r\n";

std::string text_of(http_answer const& answer, bool with_body, bool keep, bool is_tls) {
  auto const reason = http::obsolete_reason(static_cast<http::status>(answer.status));
  auto out = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", answer.status,
                         std::string_view(reason.data(), reason.size()), http_date());
  bool const bodiless = answer.status == 204 || answer.status == 304;
  if (!bodiless) {
    out +=
        fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", answer.type, answer.body.size());
  }
  bool cached = false;
  for (auto const& [name, value] : answer.headers) {
    out += fmt::format("{}: {}\r\n", name, value);
    cached = cached || name == "Cache-Control";
  }
  if (!cached) out += "Cache-Control: no-store\r\n";
  out += fixed_headers;
  if (is_tls) out += tls_headers;
  out += fmt::format("Connection: {}\r\n\r\n", keep ? "keep-alive" : "close");
  if (with_body && !bodiless) out += answer.body;
  return out;
}

}  // namespace

class listener::inside : public std::enable_shared_from_this<listener::inside> {
 public:
  inside(listen_options options, request_handler handler)
      : options_(std::move(options)), handler_(std::move(handler)), acceptor_(io_) {
    if (!options_.cert_file.empty()) use_certificate();
    listen();
  }

  void run() {
    accept();
    io_.run();
  }
  void stop() noexcept { io_.stop(); }
  [[nodiscard]] unsigned short port() const { return acceptor_.local_endpoint().port(); }

  [[nodiscard]] request_handler const& handler() const noexcept { return handler_; }
  [[nodiscard]] asio::io_context& io() noexcept { return io_; }
  void gone(std::string const& peer) {
    --connections_;
    auto const found = by_address_.find(peer);
    if (found != by_address_.end() && --found->second == 0) by_address_.erase(found);
  }

 private:
  void use_certificate() {
    tls_.emplace(asio::ssl::context::tls_server);
    tls_->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
                      asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                      asio::ssl::context::no_tlsv1_1);
    error_code fault;
    tls_->use_certificate_chain_file(options_.cert_file, fault);
    if (fault) {
      throw complaint(exit_code::configuration,
                      fmt::format("serve: --cert {}: {}", options_.cert_file, fault.message()));
    }
    tls_->use_private_key_file(options_.key_file, asio::ssl::context::pem, fault);
    if (fault) {
      throw complaint(exit_code::configuration,
                      fmt::format("serve: --key {}: {}", options_.key_file, fault.message()));
    }
  }

  void listen() {
    error_code fault;
    tcp::endpoint const at(asio::ip::make_address(options_.address, fault), options_.port);
    if (!fault) acceptor_.open(at.protocol(), fault);
    if (!fault) acceptor_.set_option(asio::socket_base::reuse_address(true), fault);
    if (!fault) acceptor_.bind(at, fault);
    if (!fault) acceptor_.listen(asio::socket_base::max_listen_connections, fault);
    if (fault) {
      throw complaint(exit_code::unreachable,
                      fmt::format("serve: cannot listen on {}:{}: {}", options_.address,
                                  options_.port, fault.message()));
    }
  }

  void accept();
  void begin(tcp::socket socket);

  listen_options options_;
  request_handler handler_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  std::optional<asio::ssl::context> tls_;
  std::optional<asio::steady_timer> pause_;
  std::size_t connections_ = 0;
  std::map<std::string, std::size_t> by_address_;
};

namespace {

/// One connection, from its first byte to its last. It lives as long as something of it is under
/// way; the answers of other threads reach it by the thread of run().
template <class Stream>
class connection : public std::enable_shared_from_this<connection<Stream>> {
 public:
  template <class... More>
  connection(std::shared_ptr<listener::inside> server, std::string peer, tcp::socket socket,
             More&... more)
      : server_(std::move(server)), peer_(std::move(peer)), stream_(std::move(socket), more...) {}
  connection(connection const&) = delete;
  connection& operator=(connection const&) = delete;
  ~connection() { server_->gone(peer_); }

  void begin() {
    lowest().expires_after(head_time);
    if constexpr (is_tls) {
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](error_code fault) {
                                if (!fault) self->read_more_head();
                              });
    } else {
      read_more_head();
    }
  }

 private:
  static constexpr bool is_tls = !std::is_same_v<Stream, beast::tcp_stream>;

  beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }

  void next_request() {
    request_ = {};
    parser_.reset();
    if (text_.empty()) {
      lowest().expires_after(idle_time);
      read([](connection& self) {
        self.lowest().expires_after(head_time);
        self.look_for_head();
      });
    } else {
      lowest().expires_after(head_time);
      look_for_head();
    }
  }

  void read_more_head() {
    read([](connection& self) { self.look_for_head(); });
  }

  /// Appends what has come to the text, then calls `next`. An end, a fault or a time-out ends all.
  template <class Next>
  void read(Next next) {
    stream_.async_read_some(asio::buffer(piece_), [self = this->shared_from_this(), next](
                                                      error_code fault, std::size_t size) {
      if (fault) {
        if (fault == beast::error::timeout) self->lowest().close();
        return;
      }
      self->text_.append(self->piece_.data(), size);
      next(*self);
    });
  }

  void look_for_head() {
    auto const end = text_.find("\r\n\r\n");
    if (end == std::string::npos) {
      if (text_.size() > longest_head) {
        return refuse(refusal(431, "too-large", "The headers are longer than 8 KiB."));
      }
      // A head whose lines have no CR would never end.
      if (text_.find("\n\n") != std::string::npos || text_.find("\n\r\n") == 0) {
        return refuse(refusal(400, "bad-request", "An LF has no CR before it."));
      }
      return read_more_head();
    }
    try {
      request_ = read_head(std::string_view(text_).substr(0, end + 4));
    } catch (refusal const& refused) {
      return refuse(refused);
    }
    request_.peer = peer_;
    request_.is_tls = is_tls;
    parser_.emplace();
    parser_->header_limit(longest_head + 16);
    parser_->body_limit(longest_body);
    parser_->eager(true);
    lowest().expires_after(body_time);
    if (request_.header("expect") == "100-continue" && text_.size() == end + 4) {
      return tell_to_continue();
    }
    parse();
  }

  void tell_to_continue() {
    out_ = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(out_),
                      [self = this->shared_from_this()](error_code fault, std::size_t) {
                        if (!fault) self->parse();
                      });
  }

  void parse() {
    error_code fault;
    while (!text_.empty() && !parser_->is_done()) {
      auto const used = parser_->put(asio::buffer(text_), fault);
      text_.erase(0, used);
      if (fault == http::error::need_more) {
        fault = {};
        break;
      }
      if (fault) break;
    }
    if (fault == http::error::body_limit) {
      return refuse(refusal(413, "too-large", "The body is larger than 1 MiB."));
    }
    if (fault)
      return refuse(refusal(400, "bad-request", "The request is broken: " + fault.message()));
    if (!parser_->is_done()) {
      return read([](connection& self) { self.parse(); });
    }
    hand_over();
  }

  void hand_over() {
    lowest().expires_never();
    request_.body = std::move(parser_->get().body());
    keep_ = parser_->get().keep_alive();
    bool const is_head = request_.method == "HEAD";
    server_->handler()(
        std::move(request_), [self = this->shared_from_this(), is_head](http_answer answer) {
          asio::post(self->server_->io(), [self, is_head, answer = std::move(answer)] {
            self->write(answer, !is_head);
          });
        });
  }

  /// The bytes behind a refused head may be anything: nothing more is read from there.
  void refuse(refusal const& refused) {
    keep_ = false;
    write(answer_of(refused), true);
  }

  void write(http_answer const& answer, bool with_body) {
    keep_ = keep_ && !answer.close;
    out_ = text_of(answer, with_body, keep_, is_tls);
    lowest().expires_after(body_time);
    asio::async_write(stream_, asio::buffer(out_),
                      [self = this->shared_from_this()](error_code fault, std::size_t) {
                        if (fault) return;
                        if (self->keep_) return self->next_request();
                        self->close();
                      });
  }

  void close() {
    error_code ignored;
    if constexpr (is_tls) {
      lowest().expires_after(head_time);
      stream_.async_shutdown([self = this->shared_from_this()](error_code) {});
    } else {
      lowest().socket().shutdown(tcp::socket::shutdown_send, ignored);
      drain();
    }
  }

  /// Else what is unread would reset the connection, and the answer be lost.
  void drain() {
    lowest().expires_after(std::chrono::seconds{1});
    stream_.async_read_some(asio::buffer(piece_),
                            [self = this->shared_from_this()](error_code fault, std::size_t) {
                              if (!fault && ++self->drained_ < 64) self->drain();
                            });
  }

  std::shared_ptr<listener::inside> server_;
  std::string peer_;
  Stream stream_;
  std::array<char, 16384> piece_{};
  std::string text_;  ///< what has come and is not parsed
  http_request request_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::string out_;
  bool keep_ = false;
  int drained_ = 0;
};

}  // namespace

void listener::inside::accept() {
  acceptor_.async_accept([self = shared_from_this()](error_code fault, tcp::socket socket) {
    if (!fault) {
      self->begin(std::move(socket));
      return self->accept();
    }
    // Out of descriptors, say: the connections that end give some back.
    self->pause_.emplace(self->io_, std::chrono::milliseconds{100});
    self->pause_->async_wait([self](error_code) { self->accept(); });
  });
}

void listener::inside::begin(tcp::socket socket) {
  error_code fault;
  auto const end = socket.remote_endpoint(fault);
  if (fault) return;
  auto address = end.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  auto const peer = address.to_string();
  bool const proxy = options_.is_proxy && options_.is_proxy(peer);
  if (connections_ >= options_.connections) return;
  auto& of_address = by_address_[peer];
  if (!proxy && of_address >= options_.connections_of_address) return;
  ++connections_;
  ++of_address;
  socket.set_option(tcp::no_delay(true), fault);
  if (tls_) {
    std::make_shared<connection<beast::ssl_stream<beast::tcp_stream>>>(shared_from_this(), peer,
                                                                       std::move(socket), *tls_)
        ->begin();
  } else {
    std::make_shared<connection<beast::tcp_stream>>(shared_from_this(), peer, std::move(socket))
        ->begin();
  }
}

listener::listener(listen_options const& options, request_handler handler)
    : inside_(std::make_shared<inside>(options, std::move(handler))) {}

listener::~listener() = default;

unsigned short listener::port() const noexcept { return inside_->port(); }
void listener::run() { inside_->run(); }
void listener::stop() noexcept { inside_->stop(); }

}  // namespace command
