#include "attempt/exit_watchdog.hpp"

#include "cli/format.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

#include <unistd.h>

namespace command {

void exit_watchdog::arm(std::chrono::milliseconds limit, int code, std::string text) {
  thread_ = std::jthread([=, text = std::move(text)](std::stop_token const& stop) {
    std::mutex guard;
    std::condition_variable_any sleep;
    std::unique_lock lock(guard);
    sleep.wait_for(lock, stop, limit, [] { return false; });
    if (stop.stop_requested()) return;
    say(text);
    ::_exit(code);
  });
}

}  // namespace command
