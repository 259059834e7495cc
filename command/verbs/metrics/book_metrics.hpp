// What a book tells of itself to a monitoring system. Names of queues, schedules, plans and nodes
// are the only labels: never keys, texts or process numbers.
// Thread safety: any thread, as the book.
//
//   print(prometheus_text(metrics_of(book)));
#pragma once

#include "verbs/metrics/prometheus.hpp"

#include <daybook/book.hpp>

#include <cstddef>
#include <vector>

namespace command {

/// So many names of each kind have series; how many are left out is a metric of its own. Of a
/// queue there are some fourteen series, of the others four.
struct metric_limits {
  std::size_t queues = 200;
  std::size_t schedules = 1000;
  std::size_t plans = 1000;
};

/// Reads the status, the processes, the problems, and each queue, schedule and plan by itself: once
/// in ten seconds is often enough. On failure: throws daybook::error.
[[nodiscard]] std::vector<metric> metrics_of(daybook::book const& book,
                                             metric_limits const& limits = {});

}  // namespace command
