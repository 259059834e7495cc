// A message broker as the book sees it. There are two kinds of source: a log keeps its messages,
// and its reader says from where; a queue drops each message that was settled. A library for one
// broker implements these; daybook::testing::memory_broker does so for tests.
// Thread safety: one thread at a time, which made the source. Lifetime: what a message refers to is
// there until the next take().
//
//   daybook::broker::log_factory const orders = [] { return my_broker::open_log("orders"); };
//   node.take_in("orders", orders);
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/time.hpp>

namespace daybook {
inline namespace v1 {
namespace broker {

struct header {
  std::string_view name;
  std::string_view value;
};

struct message {
  std::string_view topic;      ///< or the name of the queue
  std::int32_t partition = 0;  ///< of a log
  std::int64_t position = -1;  ///< in a partition of a log; -1: it is of a queue
  std::string_view id = {};    ///< empty: it has none; so are key and body
  std::string_view key = {};
  std::string_view body = {};
  std::span<header const> headers = {};
  std::optional<timestamp> sent = {};
  bool redelivered = false;  ///< the broker says that it may have delivered it before
};

/// The next position to read of a partition.
struct log_place {
  std::string topic;
  std::int32_t partition = 0;
  std::int64_t next = 0;
  friend bool operator==(log_place const&, log_place const&) = default;
};

/// What a partition has: positions from `first` up to, and without, `end`.
struct log_extent {
  std::string topic;
  std::int32_t partition = 0;
  std::int64_t first = 0;
  std::int64_t end = 0;
};

/// How much take() returns, and when.
struct page_request {
  std::size_t messages = 1000;
  /// Of their bodies, about; the first message always fits.
  std::size_t bytes = 4 << 20;
  /// The longest time to wait for the first message.
  std::chrono::milliseconds wait{1000};
  /// The longest time to wait for others after that.
  std::chrono::milliseconds gather{20};
};

// On failure, all that may throw: daybook::error. error_code::unreachable and the like are tried
// again by nodes with a new source, after a pause.

class log {
 public:
  log() = default;
  log(log const&) = delete;
  log& operator=(log const&) = delete;
  virtual ~log() = default;

  /// All partitions that there are now.
  [[nodiscard]] virtual std::vector<log_extent> extents() = 0;
  /// How many there are: cheaper, for it is asked every few seconds.
  [[nodiscard]] virtual std::size_t partitions() { return extents().size(); }
  /// What take() returns from now on: these partitions from these places. On failure:
  /// error_code::configuration where a place is outside of its partition. It never jumps.
  virtual void read_from(std::span<log_place const> places) = 0;
  /// Messages in the order of each partition; none if the time is over, or a stop was requested.
  [[nodiscard]] virtual std::span<message const> take(page_request const& request,
                                                      std::stop_token const& stop) = 0;
  /// Tells the broker how far the book is: for its own displays only.
  virtual void report(std::span<log_place const> places) noexcept = 0;
};

class queue {
 public:
  queue() = default;
  queue(queue const&) = delete;
  queue& operator=(queue const&) = delete;
  /// What was taken and not settled comes again, to whoever is there.
  virtual ~queue() = default;

  /// As log::take().
  [[nodiscard]] virtual std::span<message const> take(page_request const& request,
                                                      std::stop_token const& stop) = 0;
  /// Settles all messages taken so far. On failure: they may come again.
  virtual void settle() = 0;
  /// Hands back all messages that were taken and not settled.
  virtual void give_back() noexcept = 0;
};

/// Called by the thread that uses the source, and again after each fault.
using log_factory = std::function<std::unique_ptr<log>()>;
using queue_factory = std::function<std::unique_ptr<queue>()>;

}  // namespace broker
}  // namespace v1
}  // namespace daybook
