// What the three engines' bare loops share: what is kept of a task, and threads that take batch
// after batch. An engine adds its statements (bare_postgres.cpp and the like).
#pragma once

#include "benchmarks/queue/contestant.hpp"
#include "benchmarks/queue/tasks.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bench {

enum class keeps {
  ranges,   ///< a row for a batch, and one for each task that failed
  rolling,  ///< the same, and the tasks are due again a period later, the failed ones sooner
  rows,     ///< a result row for each task
  ones,     ///< `rows`, where every segment is a single task: the worst case
  singly,   ///< each task in a transaction of its user's, with a ledger inside the claim
};

/// One connection that works. Thread safety: one thread at a time.
class bare_worker {
 public:
  bare_worker() = default;
  bare_worker(bare_worker const&) = delete;
  bare_worker& operator=(bare_worker const&) = delete;
  virtual ~bare_worker() = default;

  /// Ends the batch it holds, fenced, and takes another of at most so many (0: none), in one
  /// transaction; reads every payload. How many it took.
  /// On failure: std::runtime_error, as where the batch was lost.
  virtual long turn(int batch) = 0;
  /// keeps::singly: the effect and the ledger's row of one held task, in one transaction.
  virtual void single(long id) = 0;

  [[nodiscard]] std::vector<long> const& held() const { return held_; }

 protected:
  std::vector<long> held_;
};

/// Ranges of neighbours in ascending ids: [lo, hi).
struct range {
  long lo;
  long hi;
};
/// Of those that did not fail.
[[nodiscard]] std::vector<range> successes(std::vector<long> const& ids);

/// A queue in tables of its own.
class bare_queue : public contestant {
 public:
  bare_queue(support::engine const& on, keeps what);

  [[nodiscard]] bool drains(int batch, int workers) const override;
  [[nodiscard]] bool has_singles() const override { return what_ == keeps::singly; }
  void prepare(long tasks) override;
  amount drain(order const& how) override;
  void check(long done) override;

 protected:
  [[nodiscard]] keeps what() const { return what_; }
  [[nodiscard]] tally& seen() { return *seen_; }
  [[nodiscard]] long number(std::string const& query) const;

  virtual void create_tables() = 0;
  /// Members 1 to `tasks`, more being there already or not.
  virtual void fill_members(long from, long tasks) = 0;
  /// Empty tables but for members; segments of this length over 1 to `tasks`.
  virtual void arm(long tasks, long length) = 0;
  virtual std::unique_ptr<bare_worker> worker(int number, int batch) = 0;
  /// All rows of all tables gone.
  virtual void empty() = 0;

  void create_once();
  void forget_members() { members_ = 0; }

 private:
  keeps what_;
  bool created_ = false;
  long members_ = 0;
  std::unique_ptr<tally> seen_;
};

}  // namespace bench
