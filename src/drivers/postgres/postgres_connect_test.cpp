// Connections that do not come about, to real servers of PostgreSQL, direct and through PgBouncer.
#include "drivers/drivers.hpp"
#include "drivers/postgres/postgres_servers.hpp"

#include <daybook/error.hpp>

#include <chrono>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace daybook {
inline namespace v1 {
namespace drivers {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::unique_ptr<db::session> connect(std::string const& url, db::connect_options const& options) {
  return connect_postgres(db::parse_url(url), options);
}

/// A socket that listens and never answers.
class silent_server {
 public:
  silent_server() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    ::sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::socklen_t size = sizeof at;
    auto* const address = reinterpret_cast<::sockaddr*>(&at);
    if (::bind(socket_, address, size) != 0 || ::listen(socket_, 8) != 0 ||
        ::getsockname(socket_, address, &size) != 0) {
      ADD_FAILURE() << "no socket to listen on";
    }
    port_ = ntohs(at.sin_port);
  }
  silent_server(silent_server const&) = delete;
  silent_server& operator=(silent_server const&) = delete;
  ~silent_server() { ::close(socket_); }
  [[nodiscard]] std::string port() const { return std::to_string(port_); }
  /// How many have asked for a connection since the last call.
  [[nodiscard]] int asked() const {
    int out = 0;
    ::pollfd look{.fd = socket_, .events = POLLIN, .revents = 0};
    for (; ::poll(&look, 1, 0) == 1; ++out) ::close(::accept(socket_, nullptr, nullptr));
    return out;
  }

 private:
  int socket_;
  unsigned port_ = 0;
};

class postgres_connect : public on_postgres_servers {};

DAYBOOK_ON_POSTGRES_SERVERS(postgres_connect);

TEST_P(postgres_connect, connecting_fails_with_a_cause_and_without_the_password) {
  auto const at = url_.find('@');
  auto const colon = url_.rfind(':', at);
  auto const port = url_.substr(url_.rfind(':') + 1, url_.rfind('/') - url_.rfind(':') - 1);
  auto const wrong = url_.substr(0, colon) + ":s%40cr%2Fet" + url_.substr(at);
  silent_server const silent;
  struct expectation {
    std::string url;
    error_code kind;
  };
  for (auto const& one : std::initializer_list<expectation>{
           {wrong, error_code::not_permitted},
           {url_.substr(0, colon) + url_.substr(at), error_code::not_permitted},
           {url_.substr(0, url_.rfind('/')) + "/not_there", error_code::configuration},
           {"postgres://u:s%40cr%2Fet@127.0.0.1:1/d", error_code::unreachable},
           {"postgresql://u:s%40cr%2Fet@no-such-host.invalid/d", error_code::unreachable},
           {"postgresql://u:s%40cr%2Fet@127.0.0.1:" + silent.port() + "/d",
            error_code::unreachable},
           {"postgresql://u:s%40cr%2Fet@127.0.0.1/d?nonsense=1", error_code::bad_argument},
           {"postgresql://u:s%40cr%2Fet@[::1/d", error_code::bad_argument},
           {"postgresql://u:s%40cr%2Fet@127.0.0.1:port/d", error_code::bad_argument},
       }) {
    auto const start = steady_clock::now();
    auto const e = caught([&] { connect(one.url, {.connect_timeout = milliseconds(2000)}); });
    ASSERT_TRUE(e) << one.url;
    EXPECT_EQ(e->kind(), one.kind) << e->what();
    std::string_view const text = e->what();
    for (auto const* const secret : {"s%40cr%2Fet", "s@cr/et", "\n"}) {
      EXPECT_EQ(text.find(secret), text.npos) << text;
    }
    EXPECT_FALSE(e->in_doubt());
    EXPECT_LT(steady_clock::now() - start, milliseconds(30000)) << one.url;
  }
}

TEST_P(postgres_connect, the_next_host_is_tried) {
  silent_server const silent;
  auto const at = url_.find('@') + 1;
  for (auto const& first : {std::string("127.0.0.1:1,"), "127.0.0.1:" + silent.port() + ","}) {
    auto several = url_;
    several.insert(at, first);
    auto const found = connect(several, {.connect_timeout = milliseconds(2000)});
    EXPECT_EQ(number(found->run(db::rewrite("user", "select 1", db::placeholder::dollar), {})), 1);
  }
}

TEST_P(postgres_connect, a_silent_host_costs_one_connection_only) {
  silent_server const silent;
  auto several = url_;
  several.insert(url_.find('@') + 1, "127.0.0.1:" + silent.port() + ",");
  db::connect_options const options{.connect_timeout = milliseconds(500)};
  auto const first = connect(several, options);
  EXPECT_EQ(silent.asked(), 1);
  auto const second = connect(several, options);
  EXPECT_EQ(silent.asked(), 0);
  EXPECT_TRUE(first->usable() && second->usable());
}

TEST_P(postgres_connect, the_doctor_counts_the_servers_that_take_writes) {
  silent_server const silent;
  auto const writable = [&](std::string const& url) {
    for (auto const& one : connect(url, {.connect_timeout = milliseconds(500)})->facts()) {
      if (one.name == "writable_hosts") return one.found;
    }
    return std::string("none");
  };
  EXPECT_EQ(writable(url_), "1");
  auto const at = url_.find('@') + 1;
  auto const host = url_.substr(at, url_.rfind('/') - at);
  auto several = url_;
  several.insert(at, "127.0.0.1:" + silent.port() + "," + host + ",");
  EXPECT_EQ(writable(several), "1") << "one server under two names";
}

}  // namespace
}  // namespace drivers
}  // namespace v1
}  // namespace daybook
