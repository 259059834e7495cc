// A host's name that has several addresses, of which the first swallows what is sent to it.
// The program's getaddrinfo() knows such a name; libpq and libmariadb call it, too.
#include "drivers/drivers.hpp"
#include "drivers/postgres/postgres_servers.hpp"

#include <daybook/error.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

/// What the names of these tests stand for; the names are nobody else's.
std::vector<std::string> addresses_of(std::string_view name) {
  if (name == "hangs-first.test") return {"127.0.0.2", "127.0.0.1"};
  if (name == "hangs.test") return {"127.0.0.2", "127.0.0.2", "127.0.0.3"};
  if (name == "answers.test") return {"127.0.0.1"};
  if (name == "answers-twice.test") return {"127.0.0.1", "127.0.0.2"};
  return {};
}

}  // namespace

extern "C" int getaddrinfo(char const* name, char const* service, ::addrinfo const* hints,
                           ::addrinfo** out) {
  using function = int (*)(char const*, char const*, ::addrinfo const*, ::addrinfo**);
  static auto const real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  auto const known = addresses_of(name == nullptr ? "" : name);
  if (known.empty()) return real(name, service, hints, out);
  for (auto const& one : known) {
    if (int const failed = real(one.c_str(), service, hints, out); failed != 0) return failed;
    while (*out != nullptr) out = &(*out)->ai_next;
  }
  return 0;
}

namespace daybook {
inline namespace v1 {
namespace drivers {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// 127.0.0.2 and .3 at the server's port, with so many waiting connections that the kernel drops
/// what else comes: as behind a firewall that says nothing.
class full_place {
 public:
  full_place(std::uint32_t address, std::uint16_t port) : listener_(make()) {
    ::sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(address);
    at.sin_port = htons(port);
    auto const* const general = reinterpret_cast<::sockaddr const*>(&at);
    int const yes = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(listener_, general, sizeof at) != 0 || ::listen(listener_, 0) != 0) {
      ADD_FAILURE() << "no socket to listen on: " << errno;
    }
    for (auto& one : waiting_) {
      one = make();
      ::connect(one, general, sizeof at);
      ::pollfd look{.fd = one, .events = POLLOUT, .revents = 0};
      if (::poll(&look, 1, 200) == 0) return;
    }
    ADD_FAILURE() << "the kernel takes every connection";
  }
  full_place(full_place const&) = delete;
  full_place& operator=(full_place const&) = delete;
  ~full_place() {
    for (int const one : waiting_) {
      if (one >= 0) ::close(one);
    }
    ::close(listener_);
  }

 private:
  static int make() { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

  int listener_;
  std::array<int, 4> waiting_{-1, -1, -1, -1};
};

struct server {
  char const* url;
  std::unique_ptr<db::session> (*connect)(db::url const&, db::connect_options const&);
};

class host_addresses : public testing::TestWithParam<server> {
 protected:
  void SetUp() override {
    url_ = from_environment(GetParam().url);
    if (url_.empty()) {
      ASSERT_FALSE(from_environment("DAYBOOK_TEST_ENGINES").empty())
          << GetParam().url << " is not set";
      GTEST_SKIP() << GetParam().url << " is not asked for";
    }
    auto const at = url_.find("127.0.0.1:");
    ASSERT_NE(at, url_.npos) << url_;
    auto const port = static_cast<std::uint16_t>(std::stoi(url_.substr(at + 10)));
    second_ = std::make_unique<full_place>(INADDR_LOOPBACK + 1, port);
    third_ = std::make_unique<full_place>(INADDR_LOOPBACK + 2, port);
  }

  [[nodiscard]] db::url at(std::string const& host) const {
    auto text = url_;
    return db::parse_url(text.replace(text.find("127.0.0.1"), 9, host));
  }
  [[nodiscard]] std::unique_ptr<db::session> connect(std::string const& host,
                                                     milliseconds limit) const {
    return GetParam().connect(at(host), {.connect_timeout = limit});
  }

  std::string url_;
  std::unique_ptr<full_place> second_;
  std::unique_ptr<full_place> third_;
};

INSTANTIATE_TEST_SUITE_P(servers, host_addresses,
                         testing::Values(server{"DAYBOOK_TEST_POSTGRESQL", connect_postgres},
                                         server{"DAYBOOK_TEST_MARIADB", connect_mysql}),
                         [](auto const& which) {
                           return std::string(which.index == 0 ? "postgresql" : "mariadb");
                         });

TEST_P(host_addresses, the_next_is_tried_where_one_does_not_answer) {
  constexpr milliseconds limit(1500);
  auto const start = steady_clock::now();
  auto const found = connect("hangs-first.test", limit);
  EXPECT_TRUE(found->usable());
  EXPECT_GE(steady_clock::now() - start, limit);
}

TEST_P(host_addresses, one_that_answers_costs_no_waiting) {
  for (auto const* const host : {"answers.test", "answers-twice.test"}) {
    auto const start = steady_clock::now();
    auto const found = connect(host, milliseconds(60'000));
    EXPECT_TRUE(found->usable());
    EXPECT_LT(steady_clock::now() - start, milliseconds(50'000)) << host;
  }
}

TEST_P(host_addresses, that_all_hang_are_tried_each_and_named) {
  // libmariadb connects to all but the first in blocking mode, and waits as long as the kernel
  // does.
  if (GetParam().connect != connect_postgres) return;
  constexpr milliseconds limit(300);
  auto const start = steady_clock::now();
  auto const e = caught([&] { static_cast<void>(connect("hangs.test", limit)); });
  ASSERT_TRUE(e);
  EXPECT_EQ(e->kind(), error_code::unreachable);
  EXPECT_TRUE(e->retryable() && !e->in_doubt());
  EXPECT_GE(steady_clock::now() - start, 2 * limit);
  EXPECT_LT(steady_clock::now() - start, milliseconds(30'000));
  std::string_view const text = e->what();
  for (auto const* const cause :
       {": 127.0.0.2: no answer within 300 ms; ", "; 127.0.0.3: no answer within 300 ms: "}) {
    EXPECT_NE(text.find(cause), text.npos) << text;
  }
}

TEST_P(host_addresses, are_left_alone_where_the_server_refuses) {
  auto to = at("answers-twice.test");
  to.original.replace(to.original.rfind('/'), to.original.npos, "/not_there");
  to.path = "not_there";
  auto const start = steady_clock::now();
  auto const e = caught([&] {
    static_cast<void>(GetParam().connect(to, {.connect_timeout = milliseconds(60'000)}));
  });
  ASSERT_TRUE(e);
  EXPECT_NE(e->kind(), error_code::unreachable) << e->what();
  EXPECT_LT(steady_clock::now() - start, milliseconds(50'000));
}

}  // namespace
}  // namespace drivers
}  // namespace v1
}  // namespace daybook
