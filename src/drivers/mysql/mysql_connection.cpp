#include "drivers/mysql/mysql_connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

// A peer that is gone is noticed within 25 s, less than the usual lease.
constexpr int keepalive_idle_s = 10;
constexpr int keepalive_interval_s = 5;
constexpr int keepalive_probes = 3;
constexpr int unanswered_ms = 25'000;

struct client_thread {
  client_thread() { ::mysql_thread_init(); }
  client_thread(client_thread const&) = delete;
  client_thread& operator=(client_thread const&) = delete;
  ~client_thread() { ::mysql_thread_end(); }
};

[[noreturn]] void bad_url(db::url const& url, std::string const& reason) {
  throw error({.kind = error_code::bad_argument}, url.shown + ": " + reason);
}

enum class tls : std::uint8_t { disabled, preferred, required, verify_identity };

std::string parameter(db::url const& url, std::string const& name) {
  auto const found = url.parameters.find(name);
  return found == url.parameters.end() ? std::string() : found->second;
}

/// A certificate authority is named so that it be used: it asks for verification by itself.
tls tls_of(db::url const& url, bool by_socket) {
  auto const text = parameter(url, "ssl-mode");
  if (text.empty() && !parameter(url, "ssl-ca").empty()) return tls::verify_identity;
  if (text.empty()) return by_socket ? tls::disabled : tls::preferred;
  if (text == "disabled") return tls::disabled;
  if (text == "preferred") return tls::preferred;
  if (text == "required") return tls::required;
  if (text == "verify-identity") return tls::verify_identity;
  bad_url(url, "ssl-mode is disabled, preferred, required or verify-identity");
}

bool is_local(db::url const& url) { return url.host.empty() || url.host == "localhost"; }

void check_parameters(db::url const& url) {
  constexpr std::array<std::string_view, 5> known{"socket", "ssl-mode", "ssl-ca", "ssl-cert",
                                                  "ssl-key"};
  for (auto const& [name, value] : url.parameters) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      bad_url(url,
              "a parameter of the URL is not known; known are socket, ssl-mode, ssl-ca, "
              "ssl-cert and ssl-key");
    }
  }
  if (url.parameters.contains("socket") && !is_local(url)) {
    bad_url(url, "a socket goes with the host 'localhost' or none");
  }
  if (parameter(url, "ssl-cert").empty() != parameter(url, "ssl-key").empty()) {
    bad_url(url, "ssl-cert and ssl-key go together");
  }
}

/// Until when this thread waits, where a mysql_wait_limit lives on it.
thread_local std::optional<std::chrono::steady_clock::time_point> wait_until;

/// While this thread connects: what each of the host's addresses may take.
thread_local std::optional<std::chrono::milliseconds> address_limit;

struct limit_of_addresses {
  explicit limit_of_addresses(std::chrono::milliseconds each) noexcept { address_limit = each; }
  limit_of_addresses(limit_of_addresses const&) = delete;
  limit_of_addresses& operator=(limit_of_addresses const&) = delete;
  ~limit_of_addresses() { address_limit.reset(); }
};

bool is_connected(int socket) {
  ::sockaddr_storage peer{};
  ::socklen_t size = sizeof peer;
  // getpeername takes every family through the general type.
  return ::getpeername(socket, reinterpret_cast<::sockaddr*>(&peer), &size) == 0;
}

int wait_until_ready(::my_socket socket, ::my_bool reads, int timeout_ms) {
  using std::chrono::milliseconds;
  using std::chrono::steady_clock;
  auto until = wait_until;
  if (timeout_ms >= 0) {
    auto const own = steady_clock::now() + milliseconds(timeout_ms);
    until = until ? std::min(*until, own) : own;
  }
  short const events = reads != 0 ? POLLIN : POLLOUT;
  for (;;) {
    int left = -1;
    if (until) {
      auto const rest = std::chrono::ceil<milliseconds>(*until - steady_clock::now()).count();
      left = static_cast<int>(std::clamp<std::int64_t>(rest, 0, 1'000'000));
    }
    ::pollfd one{.fd = socket, .events = events, .revents = 0};
    int const ready = ::poll(&one, 1, left);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return ready;
    if (until && steady_clock::now() >= *until) {
      errno = ETIMEDOUT;
      return 0;
    }
  }
}

/// What the library calls instead of poll(). Where an address does not answer, the library goes on
/// to the host's next one: that has a time of its own, not what the one before it has left over.
/// It is not asked while it connects to that one: there it waits as long as the kernel does. Giving
/// it one address at a time would leave its TLS without the name to verify.
int wait_for_server(::my_socket socket, ::my_bool reads, int timeout_ms) {
  bool const connecting = address_limit && !is_connected(socket);
  int const ready = wait_until_ready(socket, reads, timeout_ms);
  int const why = errno;
  if (connecting && (ready <= 0 || !is_connected(socket))) {
    wait_until = std::chrono::steady_clock::now() + *address_limit;
  }
  errno = why;
  return ready;
}

unsigned whole_seconds(std::chrono::milliseconds value) {
  auto const seconds = std::chrono::ceil<std::chrono::seconds>(value).count();
  return static_cast<unsigned>(std::clamp<std::int64_t>(seconds, 1, 1'000'000));
}

void set_tls(::MYSQL& connection, db::url const& url, tls mode) {
  if (mode == tls::disabled) return;
  auto const name_file = [&](::mysql_option option, std::string const& name) {
    auto const path = parameter(url, name);
    if (!path.empty()) ::mysql_optionsv(&connection, option, path.c_str());
  };
  name_file(MYSQL_OPT_SSL_CA, "ssl-ca");
  name_file(MYSQL_OPT_SSL_CERT, "ssl-cert");
  name_file(MYSQL_OPT_SSL_KEY, "ssl-key");
  ::my_bool const enforce = 1;
  ::mysql_optionsv(&connection, MYSQL_OPT_SSL_ENFORCE, &enforce);
  ::my_bool const verify = mode == tls::verify_identity ? 1 : 0;
  ::mysql_optionsv(&connection, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
}

void set_options(::MYSQL& connection, mysql_wire_options const& options) {
  ::my_bool const no = 0;
  ::mysql_optionsv(&connection, MYSQL_OPT_RECONNECT, &no);
  unsigned const no_files = 0;
  ::mysql_optionsv(&connection, MYSQL_OPT_LOCAL_INFILE, &no_files);
  ::mysql_optionsv(&connection, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  ::mysql_optionsv(&connection, MARIADB_OPT_IO_WAIT, wait_for_server);
  unsigned const connect_s = whole_seconds(options.connect_timeout);
  ::mysql_optionsv(&connection, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
  if (options.reply_timeout.count() > 0) {
    unsigned const reply_s = whole_seconds(options.reply_timeout);
    ::mysql_optionsv(&connection, MYSQL_OPT_READ_TIMEOUT, &reply_s);
    ::mysql_optionsv(&connection, MYSQL_OPT_WRITE_TIMEOUT, &reply_s);
  }
}

void watch_peer(int socket) {
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  ::sockaddr_storage peer{};
  ::socklen_t size = sizeof peer;
  // getpeername takes every family through the general type.
  auto* const general = reinterpret_cast<::sockaddr*>(&peer);
  if (::getpeername(socket, general, &size) != 0) return;
  if (peer.ss_family != AF_INET && peer.ss_family != AF_INET6) return;
  auto const set = [socket](int level, int option, int value) {
    ::setsockopt(socket, level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, keepalive_idle_s);
  set(IPPROTO_TCP, TCP_KEEPINTVL, keepalive_interval_s);
  set(IPPROTO_TCP, TCP_KEEPCNT, keepalive_probes);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, unanswered_ms);
}

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return text;
}

char const* or_null(std::string const& text) { return text.empty() ? nullptr : text.c_str(); }

}  // namespace

void prepare_mysql_thread() {
  // Never ended: the application may use the same library.
  static std::once_flag once;
  std::call_once(once, [] { ::mysql_library_init(0, nullptr, nullptr); });
  thread_local client_thread const here;
  static_cast<void>(here);
}

mysql_wait_limit::mysql_wait_limit(std::chrono::milliseconds from_now) noexcept
    : before_(wait_until) {
  wait_until.reset();
  if (from_now.count() > 0) wait_until = std::chrono::steady_clock::now() + from_now;
}

mysql_wait_limit::~mysql_wait_limit() { wait_until = before_; }

mysql_handle open_mysql(db::url const& url, mysql_wire_options const& options) {
  check_parameters(url);
  auto const socket = parameter(url, "socket");
  bool const by_socket = is_local(url) && (url.port == 0 || !socket.empty());
  auto const mode = tls_of(url, by_socket);
  prepare_mysql_thread();
  mysql_handle out(::mysql_init(nullptr));
  if (!out) throw error({.kind = error_code::io}, url.shown + ": no memory for a connection");
  set_options(*out, options);
  set_tls(*out, url, mode);
  // The library takes "localhost" for its socket, whatever the port says.
  auto const host = is_local(url) && !by_socket ? std::string("127.0.0.1") : url.host;
  mysql_wait_limit const handshake(options.connect_timeout);
  limit_of_addresses const of_each(options.connect_timeout);
  auto const* const opened =
      ::mysql_real_connect(out.get(), or_null(host), or_null(url.user), or_null(url.password),
                           or_null(url.path), url.port, or_null(socket), CLIENT_FOUND_ROWS);
  if (opened == nullptr) {
    auto const what = problem_of(*out);
    // Nothing is known of the server yet; its numbers for a refusal are the same in both.
    auto const facts = classify_mysql(what, mysql_kind::mariadb, mysql_stage::connect, "connect");
    throw mysql_error(what, facts, mysql_kind::mariadb, url);
  }
  if ((mode == tls::required || mode == tls::verify_identity) &&
      ::mysql_get_ssl_cipher(out.get()) == nullptr) {
    throw error({.kind = error_code::unreachable},
                url.shown +
                    ": the server offers no TLS, and ssl-mode requires it: set up TLS on "
                    "the server, or change ssl-mode");
  }
  watch_peer(::mysql_get_socket(out.get()));
  return out;
}

std::string schema_of(db::url const& url) {
  // It stands between back-quotes, and between quotes where the server's own tables are asked.
  if (url.path.find_first_of("`'\\") != std::string::npos) {
    throw error({.kind = error_code::bad_argument},
                url.shown +
                    ": the tables' database has a quote or a backslash in its name: name "
                    "another one, in the URL or as the book's schema");
  }
  if (!url.path.empty()) return url.path;
  throw error({.kind = error_code::bad_argument},
              url.shown +
                  ": no database is chosen: write it after the host, as in "
                  "mysql://USER@HOST/DATABASE, or name it as the book's schema");
}

mysql_kind kind_of(::MYSQL& connection) {
  return ::mariadb_connection(&connection) != 0 ? mysql_kind::mariadb : mysql_kind::mysql;
}

mysql_problem problem_of(::MYSQL& connection) {
  return {::mysql_errno(&connection), ::mysql_sqlstate(&connection), ::mysql_error(&connection)};
}

mysql_problem problem_of(::MYSQL_STMT& statement) {
  return {::mysql_stmt_errno(&statement), ::mysql_stmt_sqlstate(&statement),
          ::mysql_stmt_error(&statement)};
}

error mysql_error(mysql_problem const& problem, error_facts const& facts, mysql_kind server,
                  db::url const& url) {
  auto cause = db::without_password(one_line(problem.cause), url);
  constexpr unsigned parse_error = 1064;
  if (problem.code == parse_error && facts.statement != "user") {
    // The server quotes the statement, and ours says nothing to anybody but us.
    cause.resize(std::min(cause.size(), cause.find(" near ")));
  }
  auto text = url.shown + ": " + cause + " (error " + std::to_string(problem.code) +
              (problem.sqlstate.empty() ? "" : ", " + problem.sqlstate) + ")";
  if (auto const help = mysql_remedy(problem.code, server, facts); !help.empty()) {
    text.append(": ").append(help);
  }
  return {facts, text};
}

mysql_socket::mysql_socket(::MYSQL& connection)
    : descriptor_(::fcntl(::mysql_get_socket(&connection), F_DUPFD_CLOEXEC, 0)) {
  if (descriptor_ < 0) {
    throw error({.kind = error_code::io},
                "no file descriptor is left: raise the limit of open files");
  }
}

mysql_socket::~mysql_socket() { ::close(descriptor_); }

void mysql_socket::cut() const noexcept { ::shutdown(descriptor_, SHUT_RDWR); }

bool mysql_socket::ended() const noexcept {
  // Not POLLIN: an encrypted connection may hold bytes that nobody has asked for.
  ::pollfd look{.fd = descriptor_, .events = POLLRDHUP, .revents = 0};
  return ::poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
