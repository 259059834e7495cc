// Events that a program may want to log or count. Every member has an empty default.
// Thread safety: called from any of the book's threads, several at a time; must not throw and
// must not call the book. Lifetime: borrowed; must outlive the book.
//
//   struct log final : daybook::observer {
//     void lost(daybook::run_event const& e) noexcept override { std::cerr << e.key << " lost\n"; }
//   };
#pragma once

#include <daybook/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace daybook {
inline namespace v1 {

/// Views live as long as the call.
struct run_event {
  std::string_view process;
  std::string_view key;
  std::string_view step;    ///< empty unless the event is of a step
  std::int64_t number = 0;  ///< the run's number
  std::int64_t attempt = 0;
  std::string_view text;  ///< the error of a failure, the reason of a release
};

/// A task that its queue does not try again by itself at this turn. Views live as long as the call.
struct task_event {
  std::string_view queue;
  std::string_view key;
  int attempts = 0;       ///< at this turn, the last one included
  int crashes = 0;        ///< how many workers died with it in hand
  std::string_view text;  ///< why: the remark of its last outcome
};

class DAYBOOK_EXPORT observer {
 public:
  virtual ~observer();
  virtual void started(run_event const&) noexcept {}
  virtual void step_done(run_event const&) noexcept {}
  virtual void finished(run_event const&) noexcept {}
  /// An attempt has failed. If nobody tries again, an event of a last failure follows.
  virtual void failed(run_event const&) noexcept {}
  virtual void released(run_event const&) noexcept {}
  /// A write found that the run was taken over; or a dropped run could not be handed back.
  virtual void lost(run_event const&) noexcept {}
  /// A dead holder's run was freed by this process.
  virtual void taken_over(run_event const&) noexcept {}
  /// No renewal has succeeded for this time.
  virtual void renewal_late(std::chrono::milliseconds /*since*/,
                            std::string_view /*why*/) noexcept {}
  /// A transaction of this (internal) name is run again, for this reason.
  virtual void retried(std::string_view /*transaction*/, std::string_view /*why*/) noexcept {}
  /// A lost COMMIT reply was resolved.
  virtual void doubt_resolved(std::string_view /*transaction*/, bool /*had_committed*/) noexcept {}
  /// The database lost what it had acknowledged to this process (a fail-over to a server that was
  /// behind, or a restored copy). What this process had in hand is interrupted; it goes on as new.
  virtual void set_back() noexcept {}

  // Last failures: nobody tries again before a person asks for it. The process that wrote the
  // failure down gets the event. If it dies, or loses the reply of that COMMIT, nobody may get it.
  /// A tick of a schedule has no attempts left. `process` is the schedule, `key` the tick.
  virtual void tick_failed(run_event const&) noexcept {}
  /// Nobody knows whether an at-most-once step of the run happened: a person decides.
  virtual void unknown(run_event const&) noexcept {}
  /// A task has failed at this turn, after all its attempts, and waits for its next turn.
  virtual void task_failed(task_event const&) noexcept {}
  /// A task waits for a person: its attempts are over, or it killed its workers.
  virtual void task_dead(task_event const&) noexcept {}
  /// Nobody knows whether a task of an at-most-once queue was done: a person decides.
  virtual void task_unknown(task_event const&) noexcept {}

  /// How long a transaction took, retries not included. Its locks are gone by then.
  virtual void timed(std::string_view /*transaction*/, std::chrono::microseconds) noexcept {}
};

}  // namespace v1
}  // namespace daybook
