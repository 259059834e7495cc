#include "core/transact.hpp"

#include "base/failpoint.hpp"
#include "base/platform.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <string>
#include <thread>

namespace daybook {
inline namespace v1 {
namespace core {

namespace {

/// `NAME.PLACE`, put together only when some failpoint is armed.
bool hit(std::string_view name, std::string_view place) {
  if (!base::failpoint_armed.load(std::memory_order_relaxed)) return false;
  auto const full = std::string(name) + "." + std::string(place);
  return base::is_failpoint(full) && base::hit_failpoint(full);
}

[[noreturn]] void lose_reply() {
  throw lost_reply(error({.kind = fault::unreachable, .in_doubt = true, .breaks_connection = true},
                         "the reply to COMMIT was lost"));
}

void commit(db::session& on) {
  try {
    on.commit();
  } catch (error const& e) {
    if (e.in_doubt()) throw lost_reply(e);
    throw;
  }
}

/// Rolls back unless the transaction was ended; never in a child of fork(), whose copy of the
/// connection is the parent's.
class rollback_guard {
 public:
  rollback_guard(context const& with, db::session& on) : with_(&with), on_(&on) {}
  rollback_guard(rollback_guard const&) = delete;
  rollback_guard& operator=(rollback_guard const&) = delete;
  ~rollback_guard() {
    if (on_ != nullptr && !with_->forked()) on_->rollback();
  }
  void ended() noexcept { on_ = nullptr; }

 private:
  context const* with_;
  db::session* on_;
};

}  // namespace

backoff::backoff(std::chrono::milliseconds patience)
    : until_(base::boot_clock::now().time_since_epoch() + patience) {}

bool backoff::pause() {
  auto const now = base::boot_clock::now().time_since_epoch();
  if (now >= until_) return false;
  std::this_thread::sleep_for(
      std::min<std::chrono::nanoseconds>(base::jitter(next_), until_ - now));
  next_ = std::min(next_ * 2, std::chrono::milliseconds(1000));
  return true;
}

decision transact_once(context const& with, db::session& on, std::string_view name, isolation level,
                       std::function<decision(db::session&)> const& body) {
  auto const start = base::boot_clock::now();
  on.begin(level);
  rollback_guard guard(with, on);
  if (hit(name, "begun")) on.cut();
  auto const decided = body(on);
  with.check_process();
  if (decided == decision::commit) {
    if (hit(name, "before_commit")) on.cut();
    try {
      commit(on);
    } catch (lost_reply const&) {
      guard.ended();  // it may have committed: there is nothing to roll back
      throw;
    }
    guard.ended();
    if (hit(name, "committed")) {
      on.cut();
      lose_reply();
    }
  }
  auto const took = base::boot_clock::now() - start;
  with.watch.timed(name, std::chrono::duration_cast<std::chrono::microseconds>(took));
  return decided;
}

namespace {

/// Calls `body` with a session until it succeeds, fails for good, or patience is over.
template <class F>
void with_session(context const& with, transact_options const& options, F const& body) {
  backoff pauses(options.patience);
  for (bool first = true;; first = false) {
    try {
      auto session = with.sessions.lend(options.patience);
      body(*session);
      return;
    } catch (error const& e) {
      // A full disk is not emptied while we wait.
      if (e.in_doubt() || e.kind() == fault::full) throw;
      if (e.breaks_connection()) with.sessions.forget_idle();
      // A read-only server is one to wait for in a fail-over, and to complain of otherwise.
      bool const gone = e.kind() == fault::unreachable || e.kind() == fault::read_only;
      bool const insist = options.when_unreachable == unreachable::keep_trying;
      // A connection that had been idle may be dead when the server is well: one fresh try.
      bool const again = gone ? insist || (first && e.retryable()) : e.retryable();
      // Also when patience is over: a process that was stopped in mid-transaction, longer than
      // the server kept it open, has not tried yet.
      if (!again || !(pauses.pause() || (gone && first))) throw;
      with.watch.retried(options.name, e.what());
    }
  }
}

}  // namespace

decision transact(context const& with, transact_options const& options,
                  std::function<decision(db::session&)> const& body) {
  auto decided = decision::rollback;
  with_session(with, options, [&](db::session& on) {
    decided = transact_once(with, on, options.name, options.level, body);
  });
  return decided;
}

void read(context const& with, std::chrono::milliseconds patience,
          std::function<void(db::session&)> const& body) {
  with_session(with, {.name = "read", .patience = patience}, body);
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
