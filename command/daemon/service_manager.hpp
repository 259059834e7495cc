// Tells systemd, or what else started us with $NOTIFY_SOCKET, how we are: sd_notify(3).
// Thread safety: one thread; make it before there are others, for it changes the environment.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace command {

class service_manager {
 public:
  /// Takes its variables out of the environment: children are no services.
  service_manager();

  // Nothing where nobody listens.
  void ready() const noexcept { tell("READY=1"); }
  void reloading() const noexcept;
  void stopping() const noexcept { tell("STOPPING=1"); }
  void alive() const noexcept { tell("WATCHDOG=1"); }
  /// How often it wants alive(); empty: never.
  [[nodiscard]] std::optional<std::chrono::milliseconds> watchdog() const noexcept {
    return watchdog_;
  }

 private:
  void tell(std::string_view state) const noexcept;

  std::string socket_;
  std::optional<std::chrono::milliseconds> watchdog_;
};

/// As it stands in the environment, by this process.
void tell_service_manager(std::string_view state) noexcept;

}  // namespace command
