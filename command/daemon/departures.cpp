#include "daemon/departures.hpp"

#include <chrono>
#include <utility>

namespace command {

void departures::begin(std::string const& name, std::function<void()> leave) {
  forget_ended();
  all_.emplace(name, std::async(std::launch::async, std::move(leave)));
}

void departures::wait_for(std::string const& name) { all_.erase(name); }

void departures::wait() { all_.clear(); }

void departures::forget_ended() {
  std::erase_if(all_, [](auto const& one) {
    return one.second.wait_for(std::chrono::milliseconds{0}) == std::future_status::ready;
  });
}

}  // namespace command
