// A queue: one task for every key, done once, or again every period. A million keys are a thousand
// rows: see docs/queues.md.
// Thread safety: any thread may call. Lifetime: the book must outlive it.
//
//   auto stock = book.make_queue("stock", {.period = std::chrono::days{10}});
//   stock.add(daybook::key{"product/42"});
//   while (auto batch = stock.claim()) {
//     for (auto const& task : batch->tasks()) batch->finish(task, ask(task.key));
//     std::move(*batch).complete();
//   }
#pragma once

#include <daybook/claim.hpp>
#include <daybook/export.hpp>
#include <daybook/names.hpp>
#include <daybook/outcome.hpp>
#include <daybook/task.hpp>
#include <daybook/time.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {

class joined;
class transaction;
namespace queues {
class store;
}  // namespace queues

/// From where the next turn is counted.
enum class cadence : std::uint8_t {
  from_turn = 0,    ///< a period after this turn, however late it was done; keys stay in step
  from_finish = 1,  ///< a period after it was done
};

/// How many tasks may start in which time, over all nodes.
struct rate {
  std::int64_t count = 1;
  std::chrono::microseconds per = std::chrono::seconds{1};
};

struct queue_options {
  /// Each key again so often; 0: each once. At least a second, at most 100 years.
  std::chrono::microseconds period{0};
  /// Due times are rounded up to this, so that neighbours stay together: at least a second, at most
  /// the period. 0: a sixteenth of the period, or a second.
  std::chrono::microseconds grain{0};
  daybook::cadence cadence = cadence::from_turn;
  /// What a lost worker means: tx and at_least_once are tried again, at_most_once is unknown.
  step_mode mode = step_mode::at_least_once;
  /// A row of history for every task, not only for those that failed or have a remark.
  bool every_outcome = false;
  int attempts = 5;  ///< at one turn; 1 to 1000
  /// After the first failure; doubled after each further one, with a jitter of a tenth.
  std::chrono::milliseconds backoff = std::chrono::seconds{30};
  std::chrono::milliseconds longest_backoff = std::chrono::hours{1};
  int crash_limit = 3;    ///< so many dead workers make a task dead; 1 to 100
  int running_limit = 0;  ///< so many in hand at once, over all nodes; 0: no limit
  std::optional<daybook::rate> rate = {};
  /// Only what was due when a round was opened is claimed.
  bool rounds = false;
  std::chrono::hours retention{24 * 30};  ///< of outcomes
  /// So many neighbours share a row at most, 1 to 1000. Best: what one claim takes.
  int segment = 1000;
};

struct task_options {
  std::optional<std::string> payload = {};  ///< up to 1 MiB of UTF-8
  std::optional<timestamp> at = {};         ///< not before; empty: at once
  int priority = 5;                         ///< 0 (first) to 9
};

/// One of a bulk import.
struct entry {
  daybook::key key;
  std::optional<std::string> payload = {};
};

struct imported {
  std::int64_t added = 0;
  std::int64_t present = 0;  ///< whose key was there already, or twice among them
};

struct claim_options {
  int limit = 1000;       ///< 1 to 10000 tasks
  bool suspects = false;  ///< one suspect instead; for a process that holds nothing else
};

struct queue_counts {
  std::int64_t members = 0;
  std::int64_t waiting = 0;  ///< of them due
  std::int64_t due = 0;
  std::int64_t running = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::int64_t dead = 0;
  std::int64_t unknown = 0;
  std::int64_t suspect = 0;
  std::int64_t discarded = 0;
  std::int64_t segments = 0;  ///< rows that stand for all of these
  std::int64_t claims = 0;
};

/// Which tasks to list.
struct tasks_query {
  task_state state = task_state::waiting;
  std::int64_t after = 0;  ///< ids above this: the last of the page before
  int limit = 100;         ///< 1 to 10000
};

/// What one pass of upkeep did.
struct upkept {
  std::int64_t merged = 0;     ///< rows saved
  std::int64_t trimmed = 0;    ///< ids without a member that are covered no more
  std::int64_t rearmed = 0;    ///< rows moved to a new period
  std::int64_t forgotten = 0;  ///< outcomes past the retention
};

class DAYBOOK_EXPORT queue {
 public:
  explicit queue(std::shared_ptr<queues::store> inside) : inside_(std::move(inside)) {}

  [[nodiscard]] std::string const& name() const noexcept;
  /// As they were when this process last heard of them.
  [[nodiscard]] queue_options options() const;

  // Members. False from add: the key is there already, and nothing was changed.
  // On failure, all: throws daybook::error.
  bool add(key const& of, task_options const& how = {});
  /// In the transaction of a step's body, or in one of the application's: part of it.
  bool add(transaction& in, key const& of, task_options const& how = {});
  bool add(joined& in, key const& of, task_options const& how = {});
  /// As many as `next` gives, until it gives none; in pieces that are committed one by one.
  imported import(std::function<std::optional<entry>()> const& next, task_options const& how = {});
  imported import(std::vector<entry> const& entries, task_options const& how = {});
  /// False: there is no such key. A task in hand is finished all the same.
  bool remove(key const& of);
  bool remove(transaction& in, key const& of);
  bool remove(joined& in, key const& of);
  bool set_payload(key const& of, std::optional<std::string> const& payload);

  // What people ask for: written down, and done by the next claim. False: there is no such key.
  /// Due now, at its turn; one in hand again after that. Nothing for those that wait for a person.
  bool run_now(key const& of);
  /// Due now, with no attempt or crash counted: also those that wait for a person.
  bool retry(key const& of);
  /// Not to be done at this turn, or ever in a queue without a period.
  bool discard(key const& of);
  /// One whose outcome is unknown: it was done; or it was not, and is tried again.
  bool resolve(key const& of, bool done);

  /// Claims give nothing while it is paused; what is in hand goes on.
  void pause();
  void resume();
  /// In a queue of rounds: claims take what is due at this instant. False: a later one is open.
  bool open_round(timestamp at);

  /// A batch of due tasks of the highest priority that has any, the oldest first; empty: none is
  /// due, or may start. Also attends to what people asked for.
  [[nodiscard]] std::optional<daybook::claim> claim(claim_options const& how = {});
  /// Takes back what dead holders had in hand; how many claims. claim() does so, too, when it finds
  /// nothing; a node calls it every few seconds.
  std::int64_t reclaim();
  /// Merges neighbours, trims holes, follows a changed period, forgets old outcomes: once a day, on
  /// one node at a time. Never in the way of claims.
  upkept upkeep();

  [[nodiscard]] std::optional<task_info> find(key const& of) const;
  [[nodiscard]] std::vector<task_info> tasks(tasks_query const& what = {}) const;
  /// Exact for the instant it is asked, but for ids whose member was removed.
  [[nodiscard]] queue_counts counts() const;

  /// For the other rooms of this library only.
  [[nodiscard]] queues::store& internals() const noexcept { return *inside_; }

 private:
  std::shared_ptr<queues::store> inside_;
};

}  // namespace v1
}  // namespace daybook
