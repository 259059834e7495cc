// Waiting for what another thread or process brings about, without a bet on when.
//
//   EXPECT_TRUE(comes_true([&] { return log.count("claimed") > 0; }));
#pragma once

#include <chrono>
#include <thread>

namespace conformance {

/// Longer than anything in a test takes; what does not come until then never does.
inline constexpr std::chrono::seconds for_ever{60};

/// Whether it is so before for_ever is over; asked again and again.
template <class F>
bool comes_true(F const& what) {
  auto const until = std::chrono::steady_clock::now() + for_ever;
  while (!what()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace conformance
