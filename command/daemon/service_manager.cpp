#include "daemon/service_manager.hpp"

#include "cli/numbers.hpp"
#include "daemon/init.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <ctime>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace command {

namespace {

std::string taken(char const* variable) {
  char const* const text = std::getenv(variable);
  std::string out = text == nullptr ? "" : text;
  ::unsetenv(variable);
  return out;
}

void send_to(std::string_view socket, std::string_view state) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.empty() || socket.size() >= sizeof address.sun_path) return;
  std::copy(socket.begin(), socket.end(), static_cast<char*>(address.sun_path));
  if (socket.front() == '@') address.sun_path[0] = '\0';  // a name, and no file
  auto const size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket.size());
  int const file = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (file < 0) return;
  ::sendto(file, state.data(), state.size(), MSG_NOSIGNAL,
           reinterpret_cast<sockaddr const*>(&address), size);
  ::close(file);
}

}  // namespace

service_manager::service_manager() : socket_(taken("NOTIFY_SOCKET")) {
  auto const length = whole_number(taken("WATCHDOG_USEC")).value_or(0);
  auto const whom = taken("WATCHDOG_PID");
  if (length <= 0 || (!whom.empty() && whole_number(whom) != ::getpid())) return;
  // Twice as often as is needed, as sd_watchdog_enabled(3) asks for.
  watchdog_ = std::max(std::chrono::milliseconds{1}, std::chrono::floor<std::chrono::milliseconds>(
                                                         std::chrono::microseconds{length} / 2));
}

void service_manager::reloading() const noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", now.tv_sec * 1'000'000 + now.tv_nsec / 1000));
}

void service_manager::tell(std::string_view state) const noexcept {
  if (way_to_init() < 0) return send_to(socket_, state);
  // It reads at once, unless it is stopped: then there is nothing to wait for.
  ::send(way_to_init(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void tell_service_manager(std::string_view state) noexcept {
  char const* const socket = std::getenv("NOTIFY_SOCKET");
  if (socket != nullptr) send_to(socket, state);
}

}  // namespace command
