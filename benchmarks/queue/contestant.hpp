// Whoever works a queue off in ./bench queue: the bare loops, the peers, the library. Another one
// is a class of this kind, and a line in `field` (bench_queue.cpp).
// Thread safety: one thread at a time; `drain` makes threads or processes of its own.
#pragma once

#include "support/engines.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct order {
  int batch = 1000;
  int workers = 2;
  long most = 0;  ///< stops when so many tasks are done; a batch more or less does not matter
};

struct amount {
  double seconds = 0;
  long tasks = 0;
};

struct delay {
  double p50_ms = 0;
  double p99_ms = 0;
};

/// What it cannot do answers nothing, and has no line in the table.
class contestant {
 public:
  contestant(std::string name, support::engine const& on) : name_(std::move(name)), database_(on) {}
  contestant(contestant const&) = delete;
  contestant& operator=(contestant const&) = delete;
  virtual ~contestant() = default;

  [[nodiscard]] std::string const& name() const { return name_; }
  [[nodiscard]] support::fresh_database const& database() const { return database_; }

  /// Whether a drain of this kind is a thing it does; peers have a batch of their own.
  [[nodiscard]] virtual bool drains(int batch, int workers) const = 0;
  /// Exactly so many tasks wait, due now, each with a key and a payload; nothing of a drain before
  /// is left. Not timed.
  virtual void prepare(long tasks) = 0;
  /// From the moment everybody is connected until the last completion has been answered.
  /// On failure: std::runtime_error.
  virtual amount drain(order const& how) = 0;
  /// On failure: std::runtime_error where the database does not say that so many tasks were done,
  /// each once.
  virtual void check(long done) = 0;

  /// One task, one transaction with an effect of its user's; each exactly once.
  [[nodiscard]] virtual bool has_singles() const { return false; }

  /// Into an empty queue, each task in a transaction of its own, by so many at once.
  virtual std::optional<amount> enqueue_singly(long /*tasks*/, int /*producers*/) {
    return std::nullopt;
  }
  /// Into an empty queue. Keys are unique and refused the second time; 1000 in a call.
  virtual std::optional<amount> enqueue_unique(long) { return std::nullopt; }
  /// The fastest way there is for many at once.
  virtual std::optional<amount> enqueue_import(long) { return std::nullopt; }

  /// From before a task is given until it begins, at random moments with this mean gap.
  virtual std::optional<delay> start_delay(int /*samples*/, double /*gap_ms*/) {
    return std::nullopt;
  }
  /// Waits for tasks, of which there are none, while `meanwhile` runs. False: cannot.
  virtual bool idle(std::function<void()> const& /*meanwhile*/) { return false; }

 private:
  std::string name_;
  support::fresh_database database_;
};

using contestants = std::vector<std::unique_ptr<contestant>>;

/// The loops written by hand; the same for every engine.
contestants bare_contestants(support::engine const& on);
/// Those of the peers that are installed in this folder, on PostgreSQL; none where it is empty.
contestants peer_contestants(support::engine const& on, std::string const& folder);

}  // namespace bench
