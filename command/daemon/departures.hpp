// What is served no more and still has something in hand: who waits for each of them is a thread of
// its own, so that all are told at once, and nobody else waits.
// Thread safety: one thread at a time.
//
//   departures leaving;
//   for (auto const& name : dropped) leaving.begin(name, [&] { node.leave(name); });
#pragma once

#include <functional>
#include <future>
#include <map>
#include <string>

namespace command {

class departures {
 public:
  /// `leave` tells it, and returns when nothing of it is left. On failure: std::system_error, for
  /// no thread is to be had; nothing was done. Lifetime: what `leave` refers to must outlive us.
  void begin(std::string const& name, std::function<void()> leave);
  void wait_for(std::string const& name);
  void wait();

 private:
  void forget_ended();

  std::multimap<std::string, std::future<void>> all_;  ///< each waits for its thread at its end
};

}  // namespace command
