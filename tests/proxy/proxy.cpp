#include "proxy/proxy.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace proxy {

namespace {

[[noreturn]] void fail(char const* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

::sockaddr_in at_port(std::uint16_t port) {
  ::sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

::sockaddr const* general(::sockaddr_in const& from) {
  return reinterpret_cast<::sockaddr const*>(&from);
}

void send_at_once(int socket) {
  int const on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int connect_to(std::uint16_t port) {
  int const made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto const address = at_port(port);
  if (made >= 0 && ::connect(made, general(address), sizeof address) != 0) {
    ::close(made);
    return -1;
  }
  send_at_once(made);
  return made;
}

/// What cannot be sent was for somebody who is gone: the next read tells.
void send_all(int to, std::string_view bytes) {
  while (to >= 0 && !bytes.empty()) {
    auto const sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void close_socket(int& which) {
  if (which >= 0) ::close(std::exchange(which, -1));
}

/// The peer gets an RST instead of an end.
void reset_socket(int& which) {
  ::linger const at_once{.l_onoff = 1, .l_linger = 0};
  if (which >= 0) ::setsockopt(which, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close_socket(which);
}

}  // namespace

proxy::proxy(protocol which, std::uint16_t server_port) : which_(which), server_port_(server_port) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = at_port(0);
  ::socklen_t size = sizeof address;
  auto* const filled = reinterpret_cast<::sockaddr*>(&address);
  if (listener_ < 0 || ::bind(listener_, filled, size) != 0 || ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, filled, &size) != 0) {
    fail("the proxy cannot listen");
  }
  port_ = ntohs(address.sin_port);
  std::array<int, 2> both{};
  if (::pipe2(both.data(), O_CLOEXEC | O_NONBLOCK) != 0) fail("the proxy has no pipe");
  wake_read_ = both[0];
  wake_write_ = both[1];
  thread_ = std::jthread([this](std::stop_token const& stop) { serve(stop); });
}

proxy::~proxy() {
  thread_.request_stop();
  wake();
  thread_.join();
  for (auto& one : links_) close_both(one);
  for (int* const one : {&listener_, &wake_read_, &wake_write_}) close_socket(*one);
}

std::string proxy::url_of(std::string const& direct) const {
  auto const at = direct.rfind('@');
  auto const slash = direct.find('/', at);
  auto const tls =
      which_ == protocol::postgres ? "sslmode=disable&gssencmode=disable" : "ssl-mode=disabled";
  return direct.substr(0, at + 1) + "127.0.0.1:" + std::to_string(port_) + direct.substr(slash) +
         (direct.find('?') == std::string::npos ? "?" : "&") + tls;
}

void proxy::wake() const {
  char const one = 0;
  static_cast<void>(::write(wake_write_, &one, 1));
}

void proxy::arm(plan what) {
  std::lock_guard const lock(guard_);
  hits_ = 0;
  armed_ = std::move(what);
}

int proxy::hits() const {
  std::lock_guard const lock(guard_);
  return hits_;
}

void proxy::mute(bool on) {
  std::lock_guard const lock(guard_);
  muted_ = on;
  wake();
}

int proxy::release() {
  std::unique_lock lock(guard_);
  int count = 0;
  for (auto& one : links_) {
    if (!std::exchange(one.held, false)) continue;
    ++count;
    one.now = mode::closes_after_reply;
    send_all(one.server, std::exchange(one.kept, {}));
  }
  wake();
  settled_.wait(lock, [&] {
    return std::none_of(links_.begin(), links_.end(),
                        [](link const& one) { return one.now == mode::closes_after_reply; });
  });
  return count;
}

void proxy::abandon() {
  std::lock_guard const lock(guard_);
  for (auto& one : links_) {
    if (one.held) close_both(one);
  }
  wake();
}

int proxy::wait_time() const {
  auto soonest = clock::time_point::max();
  for (auto const& one : links_) {
    if (one.resumes) soonest = std::min(soonest, *one.resumes);
  }
  if (soonest == clock::time_point::max()) return -1;
  auto const rest = std::chrono::ceil<std::chrono::milliseconds>(soonest - clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(rest, 0, 10'000));
}

void proxy::serve(std::stop_token const& stop) {
  while (!stop.stop_requested()) {
    std::vector<::pollfd> looks{{.fd = wake_read_, .events = POLLIN, .revents = 0},
                                {.fd = listener_, .events = POLLIN, .revents = 0}};
    int most = -1;
    {
      std::lock_guard const lock(guard_);
      std::erase_if(links_, [](link const& one) { return one.client < 0 && one.server < 0; });
      for (auto const& one : links_) {
        bool const deaf = muted_ || one.now == mode::goes_nowhere;
        bool const waits = deaf || one.resumes || one.now != mode::passes;
        looks.push_back({.fd = waits ? -1 : one.client, .events = POLLIN, .revents = 0});
        looks.push_back({.fd = deaf ? -1 : one.server, .events = POLLIN, .revents = 0});
      }
      most = wait_time();
    }
    ::poll(looks.data(), looks.size(), most);
    std::array<char, 64> drained{};
    while (::read(wake_read_, drained.data(), drained.size()) > 0) {
    }
    std::lock_guard const lock(guard_);
    auto look = looks.begin() + 2;
    // Those of before the wait, in their order; what was closed meanwhile reads nothing.
    for (auto one = links_.begin(); look != looks.end(); ++one, look += 2) {
      if (look[0].revents != 0) read_from(*one, true);
      if (look[1].revents != 0) read_from(*one, false);
      if (one->resumes && clock::now() >= *one->resumes) resume(*one);
    }
    if (looks[1].revents != 0) accept_one();
    settled_.notify_all();
  }
}

void proxy::accept_one() {
  link fresh;
  fresh.client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fresh.client < 0) return;
  send_at_once(fresh.client);
  fresh.server = connect_to(server_port_);
  fresh.speaks = make_wire(which_);
  if (fresh.server < 0) return close_both(fresh);
  links_.push_back(std::move(fresh));
}

void proxy::read_from(link& of, bool client) {
  std::array<char, 65536> room{};
  int const socket = client ? of.client : of.server;
  if (socket < 0) return;
  auto const got = ::recv(socket, room.data(), room.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return close_both(of);
  auto& into = client ? of.from_client : of.from_server;
  into.append(room.data(), static_cast<std::size_t>(got));
  client ? requests_of(of) : replies_of(of);
}

void proxy::requests_of(link& of) {
  while (of.now == mode::passes && !of.resumes && of.client >= 0) {
    auto const next = of.speaks->next_request(of.from_client);
    if (!next) return;
    if (auto const how = meets(*next)) {
      act(of, *how, *next);
    } else {
      send_all(of.server, next->bytes);
    }
  }
}

void proxy::replies_of(link& of) {
  while (auto const next = of.speaks->next_reply(of.from_server)) {
    switch (of.now) {
      case mode::passes: send_all(of.client, next->bytes); break;
      case mode::goes_nowhere:
      case mode::drops_replies: break;
      case mode::keeps_reply:
        of.kept += next->bytes;
        if (next->ends) of.resumes = clock::now() + of.pause;
        break;
      case mode::closes_after_reply:
        if (next->ends) return close_both(of);
        break;
      case mode::refuses_after_reply:
        if (!next->ends) break;
        send_all(of.client, of.refusal);
        of.now = mode::passes;
        requests_of(of);
        break;
    }
  }
}

std::optional<plan> proxy::meets(request const& what) {
  if (!armed_) return std::nullopt;
  bool const at_commit = armed_->at == moment::commit;
  if (at_commit ? !what.commits() : !what.executes()) return std::nullopt;
  auto const& where = at_commit ? what.transaction : what.text;
  if (where.find(armed_->within) == std::string::npos) return std::nullopt;
  if (armed_->skip > 0) {
    --armed_->skip;
    return std::nullopt;
  }
  ++hits_;
  auto const out = *armed_;
  if (--armed_->times == 0) armed_.reset();
  return out;
}

void proxy::act(link& on, plan const& how, request const& what) {
  switch (how.what) {
    case fault::delay:
      on.kept = what.bytes;
      on.resumes = clock::now() + how.pause;
      return;
    case fault::late_reply:
      on.now = mode::keeps_reply;
      on.pause = how.pause;
      return send_all(on.server, what.bytes);
    case fault::half_open: on.now = mode::goes_nowhere; return;
    case fault::reset: reset_socket(on.client); return close_both(on);
    case fault::cut: return close_both(on);
    case fault::swallow_reply:
    case fault::stay_silent:
      on.now = how.what == fault::stay_silent ? mode::drops_replies : mode::closes_after_reply;
      return send_all(on.server, what.bytes);
    case fault::hold:
      on.kept = what.bytes;
      on.held = true;
      return close_socket(on.client);
    case fault::refuse: break;
  }
  on.refusal = on.speaks->refusal(how.code);
  if (on.speaks->ends_connection(how.code)) {
    send_all(on.client, on.refusal);
    return close_both(on);
  }
  if (what.what != request::kind::commit) return send_all(on.client, on.refusal);
  on.now = mode::refuses_after_reply;
  send_all(on.server, on.speaks->rollback());
}

void proxy::resume(link& one) {
  one.resumes.reset();
  bool const reply = one.now == mode::keeps_reply;
  send_all(reply ? one.client : one.server, std::exchange(one.kept, {}));
  if (reply) one.now = mode::passes;
  requests_of(one);
}

void proxy::close_both(link& of) {
  close_socket(of.client);
  close_socket(of.server);
  of.held = false;
  if (of.now == mode::closes_after_reply) of.now = mode::passes;
}

}  // namespace proxy
