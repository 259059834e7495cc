// What the random mixes of both drivers share: dice, a clock that is moved while workers stop and
// go, a worker stopped past its lease. Thread safety: one thread.
#pragma once

#include "proof/torture/child.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

namespace torture {

inline int up_to(std::minstd_rand& dice, int most) {
  return std::uniform_int_distribution<int>(0, most)(dice);
}

/// Calls `jump`, which moves the clock. Where that takes long all the workers go on, for in SQLite
/// whoever is stopped may hold the lock that the clock needs. `each` calls its argument with each.
template <class Each, class Jump>
void jump_among(Each const& each, Jump const& jump) {
  std::atomic<bool> done = false;
  std::thread jumper([&] {
    jump();
    done = true;
  });
  for (int tries = 0; !done; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (tries >= 50) each([](child& one) { one.go_on(); });
  }
  jumper.join();
}

/// Stops it past the lease: the clock jumps, the others get time to take over, it goes on.
template <class Each, class Jump>
void stop_past_the_lease(child& who, std::minstd_rand& dice, Each const& each, Jump const& jump) {
  who.send(SIGSTOP);
  jump_among(each, jump);
  std::this_thread::sleep_for(std::chrono::milliseconds(20 + up_to(dice, 100)));
  who.go_on();
}

/// Asks all of them to end, and waits for it; whoever is at a stopping failpoint is let go on.
/// `silent` is called with one that does not end.
template <class Each, class Silent>
void end_all(Each const& each, Silent const& silent) {
  each([](child& one) { one.send(SIGTERM); });
  each([&](child& one) {
    child::change last;
    do {
      each([](child& other) { other.go_on(); });
      last = one.wait(std::chrono::seconds(30));
    } while (last.what == child::state::stopped);
    if (last.what == child::state::silent) silent(one);
  });
}

}  // namespace torture
