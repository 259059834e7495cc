// A message broker in memory, for tests of programs that take messages in: logs and queues, filled
// by hand, with the faults that brokers have.
// Thread-safe. Lifetime: its sources share what they need of it.
//
//   daybook::testing::memory_broker broker;
//   broker.send("orders", {.id = "17", .body = "paid"});
//   auto source = broker.queue("orders")();
//   book.make_intake("orders", {.into = "events"}).take_from(*source);
#pragma once

#include <daybook/broker.hpp>
#include <daybook/detail/export.hpp>
#include <daybook/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace testing {

struct sent_message {
  std::string id = {};
  std::string key = {};
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
};

class DAYBOOK_EXPORT memory_broker {
 public:
  /// What a source asks of the broker.
  enum class call : std::uint8_t { open, extents, read_from, take, report, settle, give_back };

  memory_broker();

  // Logs. A topic has one partition until it is made with more, or some are added.

  void make_log(std::string const& topic, int partitions);
  void add_partition(std::string const& topic);
  /// Returns the position of the message.
  std::int64_t append(std::string const& topic, sent_message message, int partition = 0);
  /// Drops the messages before `first`, as a broker does after the retention.
  void drop_before(std::string const& topic, int partition, std::int64_t first);
  /// Drops one message, as a broker does that keeps the newest of each key.
  void compact(std::string const& topic, int partition, std::int64_t position);
  /// Deletes the log and makes it anew: empty, with positions from 0.
  void make_anew(std::string const& topic);
  [[nodiscard]] broker::log_factory log(std::string const& topic);
  /// How far a source has reported the book to be.
  [[nodiscard]] std::int64_t reported(std::string const& topic, int partition = 0) const;

  // Queues. Each is there as soon as it is named.

  void send(std::string const& queue, sent_message message);
  [[nodiscard]] broker::queue_factory queue(std::string const& name);
  /// Messages that are not settled.
  [[nodiscard]] std::size_t left(std::string const& queue) const;
  /// How often messages were given out.
  [[nodiscard]] std::int64_t deliveries(std::string const& queue) const;

  // Faults.

  /// The call after `skip` others throws a fault of this kind.
  void fail(call at, error_code kind = error_code::unreachable, int skip = 0);
  /// The next so many times the broker never hears what a source settles, and the source does not
  /// know: the messages come again.
  void lose_settlements(int count);
  /// Called at each call of a source, before the broker does it; by the source's thread.
  void on_call(std::function<void(call)> hook);

  struct state;  ///< shared with its sources

 private:
  std::shared_ptr<state> state_;
};

}  // namespace testing
}  // namespace v1
}  // namespace daybook
