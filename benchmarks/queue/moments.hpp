// When tasks are given, and how soon they began: for the delay from enqueue to start.
#pragma once

#include "benchmarks/queue/contestant.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <random>
#include <thread>
#include <vector>

namespace bench {

/// Calls `give` with 0, 1, ... at random moments with this mean gap, the same in every round.
template <class F>
void at_random_moments(int samples, double gap_ms, F const& give) {
  std::mt19937 random(7);
  std::exponential_distribution<double> gap(1 / gap_ms);
  auto next = std::chrono::steady_clock::now();
  for (std::size_t at = 0; at < static_cast<std::size_t>(samples); ++at) {
    next += std::chrono::microseconds(static_cast<long>(gap(random) * 1000));
    std::this_thread::sleep_until(next);
    give(at);
  }
}

/// Of the first `count`.
inline delay delay_of(std::vector<std::chrono::steady_clock::time_point> const& given,
                      std::vector<std::chrono::steady_clock::time_point> const& begun,
                      std::size_t count) {
  std::vector<double> delays;
  for (std::size_t at = 0; at < count; ++at) {
    delays.push_back(std::chrono::duration<double, std::milli>(begun[at] - given[at]).count());
  }
  std::sort(delays.begin(), delays.end());
  return {delays[count / 2], delays[count * 99 / 100]};
}

}  // namespace bench
