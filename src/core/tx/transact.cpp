#include "core/tx/transact.hpp"

#include "base/failpoint.hpp"
#include "base/platform.hpp"

#include <daybook/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

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
  throw lost_reply(
      error({.kind = error_code::unreachable, .in_doubt = true, .breaks_connection = true},
            "the reply to COMMIT was lost"));
}

void report_time(context const& context, std::string_view name,
                 base::boot_clock::time_point start) {
  auto const took = base::boot_clock::now() - start;
  context.watch.timed(name, std::chrono::duration_cast<std::chrono::microseconds>(took));
}

void commit(db::session& session) {
  try {
    session.commit();
  } catch (error const& e) {
    if (e.in_doubt()) throw lost_reply(e);
    throw;
  }
}

/// Rolls back unless the transaction was ended; never in a child of fork(), whose copy of the
/// connection is the parent's.
class rollback_guard {
 public:
  rollback_guard(context const& context, db::session& session)
      : context_(&context), session_(&session) {}
  rollback_guard(rollback_guard const&) = delete;
  rollback_guard& operator=(rollback_guard const&) = delete;
  ~rollback_guard() {
    if (session_ == nullptr || context_->forked()) return;
    session_->rollback();
    session_->ended(false);
  }
  /// Committed, or it may be: there is nothing to roll back.
  void ended() noexcept { std::exchange(session_, nullptr)->ended(true); }

 private:
  context const* context_;
  db::session* session_;
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

transact_options for_a_lease(context const& context, std::string_view name, isolation level) {
  return {.name = name,
          .level = level,
          .patience = context.lease,
          .when_unreachable = unreachable::keep_trying};
}

namespace {

decision in_transaction(context const& context, db::session& session, std::string_view name,
                        isolation level, std::function<decision(db::session&)> const& body) {
  session.begin(level);
  rollback_guard guard(context, session);
  if (hit(name, "begun")) session.cut();
  auto const decided = body(session);
  context.check_process();
  if (decided == decision::rollback) return decided;
  if (hit(name, "before_commit")) session.cut();
  try {
    commit(session);
  } catch (lost_reply const&) {
    guard.ended();
    throw;
  }
  guard.ended();
  if (hit(name, "committed")) {
    session.cut();
    lose_reply();
  }
  return decided;
}

/// Who watches is told when the locks are gone, also where all was rolled back.
decision transact_once(context const& context, db::session& session, std::string_view name,
                       isolation level, std::function<decision(db::session&)> const& body) {
  auto const start = base::boot_clock::now();
  auto const decided = in_transaction(context, session, name, level, body);
  report_time(context, name, start);
  return decided;
}

/// Runs `body`, which commits where it returns true; a COMMIT in doubt is the lost reply to ours.
template <class F>
void run_once(context const& context, db::session& session, std::string_view name, F const& body) {
  auto const start = base::boot_clock::now();
  context.check_process();
  bool committed = false;
  try {
    committed = body();
  } catch (error const& e) {
    if (e.in_doubt()) throw lost_reply(e);
    throw;
  }
  if (committed && hit(name, "committed")) {
    session.cut();
    lose_reply();
  }
  report_time(context, name, start);
}

/// As transact_once(), for the library's own work: another thread may do it, with its own.
void share_once(context const& context, db::session& db_session, std::string_view name,
                std::function<decision(db::session&)> const& body) {
  run_once(context, db_session, name, [&] {
    return db_session.share([&](db::session& session) {
      if (hit(name, "begun")) session.cut();
      if (body(session) == decision::rollback) return false;
      if (hit(name, "before_commit")) session.cut();
      return true;
    });
  });
}

/// Runs `body`, which sends its COMMIT with it, and returns whether it has committed.
template <class F>
void commits_itself(context const& context, db::session& session, std::string_view name,
                    F const& body) {
  run_once(context, session, name, [&] {
    if (hit(name, "begun")) session.cut();
    if (hit(name, "before_commit")) {
      // What is sent is its own COMMIT: one that never arrives, and of which nobody knows that.
      session.cut();
      lose_reply();
    }
    return body();
  });
}

}  // namespace

db::table write_once(context const& context, db::session& db_session, std::string_view name,
                     db::entry const& entry, std::initializer_list<value> values) {
  db::table out;
  if (!db::stands_alone(db_session, entry)) {
    share_once(context, db_session, name, [&](db::session& session) {
      out = db::run(session, entry, values);
      return out.something() ? decision::commit : decision::rollback;
    });
    return out;
  }
  commits_itself(context, db_session, name, [&] {
    out = db::run_alone(db_session, entry, values);
    return out.something();
  });
  return out;
}

namespace {

std::vector<db::table> write_together_once(context const& context, db::session& db_session,
                                           std::string_view name, std::span<db::call const> calls) {
  std::vector<db::table> out;
  if (calls.empty()) return out;
  if (!db_session.sends_together()) {
    transact_once(context, db_session, name, isolation::read_committed, [&](db::session& session) {
      out.reserve(calls.size());
      for (auto const& one : calls) out.push_back(session.run(*one.what, one.values));
      return decision::commit;
    });
    return out;
  }
  commits_itself(context, db_session, name, [&] {
    out = db_session.together(calls);
    return true;
  });
  return out;
}

/// From when on patience counts: a body of the application's may take longer than any.
enum class patience_from : std::uint8_t { beginning, first_failure };

/// Calls `body` with a session until it succeeds, fails for good, or patience is over.
template <class F>
void with_session(context const& context, transact_options const& options,
                  patience_from patience_from, F const& body) {
  backoff pauses(options.patience);
  for (bool first = true;; first = false) {
    bool begun = false;  // who got no connection has waited for it long enough
    try {
      auto session = context.sessions.lend(options.patience);
      begun = true;
      body(*session);
      return;
    } catch (error const& e) {
      // A full disk is not emptied while we wait.
      if (e.in_doubt() || e.kind() == error_code::full) throw;
      if (first && begun && patience_from == patience_from::first_failure)
        pauses = backoff(options.patience);
      if (e.breaks_connection()) context.sessions.forget_idle();
      if (e.breaks_connection() && context.borrowed) throw;  // no other is to be had
      // A read-only server is one to wait for in a fail-over, and to complain of otherwise.
      bool const gone = e.kind() == error_code::unreachable || e.kind() == error_code::read_only;
      bool const waits = options.when_unreachable == unreachable::keep_trying && !context.borrowed;
      // A connection that had been idle may be dead when the server is well: one fresh try.
      bool const again = gone ? waits || (first && e.retryable()) : e.retryable();
      // Also when patience is over: a process that was stopped in mid-transaction, longer than
      // the server kept it open, has not tried yet.
      if (!again || !(pauses.pause() || (gone && first))) throw;
      context.watch.retried(options.name, e.what());
    }
  }
}

}  // namespace

decision transact(context const& context, transact_options const& options,
                  std::function<decision(db::session&)> const& body) {
  auto decided = decision::rollback;
  with_session(context, options, patience_from::first_failure, [&](db::session& session) {
    decided = transact_once(context, session, options.name, options.level, body);
  });
  return decided;
}

db::table write(context const& context, transact_options const& options, db::entry const& entry,
                std::initializer_list<value> values) {
  db::table out;
  with_session(context, options, patience_from::beginning, [&](db::session& session) {
    out = write_once(context, session, options.name, entry, values);
  });
  return out;
}

std::vector<db::table> write_together(context const& context, transact_options const& options,
                                      std::span<db::call const> calls) {
  std::vector<db::table> out;
  with_session(context, options, patience_from::beginning, [&](db::session& session) {
    out = write_together_once(context, session, options.name, calls);
  });
  return out;
}

bool fenced(db::session& session, db::entry const& statement, std::initializer_list<value> values) {
  return db::run(session, statement, values).affected == 1;
}

void read(context const& context, std::chrono::milliseconds patience,
          std::function<void(db::session&)> const& body) {
  with_session(context, {.name = "read", .patience = patience}, patience_from::beginning, body);
}

void confirm_seen(context const& context) {
  for (backoff pauses(usual_patience);;) {
    try {
      return read(context, [](db::session& session) { session.confirm_seen(); });
    } catch (error const& e) {
      if (!e.in_doubt() || !pauses.pause()) throw;
    }
  }
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
