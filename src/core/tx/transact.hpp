// A transaction: begun and committed once, run again whole where the database asks for it, and
// never run again where its COMMIT is in doubt.
// Thread-safe.
#pragma once

#include "core/tx/context.hpp"

#include <daybook/error.hpp>
#include <daybook/run.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace core {

/// The reply to our own COMMIT was lost: the one doubt that the core resolves. An error of the
/// same property that a body brings from elsewhere is not this.
class lost_reply : public error {
 public:
  explicit lost_reply(error const& failure) : error(failure) {}
};

enum class decision : std::uint8_t { commit, rollback };

/// What to do while the database cannot be reached at all.
enum class unreachable : std::uint8_t { give_up, keep_trying };

/// How long what may be retried is retried, where nothing says otherwise.
inline constexpr std::chrono::milliseconds usual_patience = std::chrono::seconds{10};

struct transact_options {
  std::string_view name;  ///< "start": its failpoints are start.begun, start.before_commit, ...
  isolation level = isolation::read_committed;
  /// How long what may be retried is retried; with transact(), after it has failed once.
  std::chrono::milliseconds patience = usual_patience;
  unreachable when_unreachable = unreachable::give_up;
};

/// For what is worth something as long as a lease is held, also while the database is away: by then
/// it is another's.
[[nodiscard]] transact_options for_a_lease(context const& context, std::string_view name,
                                           isolation level = isolation::read_committed);

/// Returns what `body` decided in the end. On failure: throws daybook::error; after lost_reply
/// the caller must find out what happened. What the body throws goes through after a rollback.
decision transact(context const& context, transact_options const& options,
                  std::function<decision(db::session&)> const& body);

/// A transaction that is one entry of the catalogue: kept where that changed or returned rows, else
/// rolled back. Where the entry is one statement of the engine it commits by itself, in one round
/// trip instead of three. Returns what came back. On failure: as transact().
db::table write(context const& context, transact_options const& options, db::entry const& entry,
                std::initializer_list<value> values);

/// A READ COMMITTED transaction of calls that do not wait for each other's answers (db::add_calls),
/// in one round trip where the session can. It is always committed. Returns a table for each call.
/// On failure: as transact(); the calls are tried again whole.
std::vector<db::table> write_together(context const& context, transact_options const& options,
                                      std::span<db::call const> calls);

/// Whether a statement with the fence in it found it held: exactly one row.
[[nodiscard]] bool fenced(db::session& session, db::entry const& statement,
                          std::initializer_list<value> values);

/// Reads outside any transaction: each statement sees its own instant, and blocks nobody.
void read(context const& context, std::chrono::milliseconds patience,
          std::function<void(db::session&)> const& body);
inline void read(context const& context, std::function<void(db::session&)> const& body) {
  read(context, usual_patience, body);
}

/// As write(), on a session that the caller has, once, without retries: for the renewal.
db::table write_once(context const& context, db::session& session, std::string_view name,
                     db::entry const& entry, std::initializer_list<value> values);

/// Returns when what was read before is where a COMMIT would wait for it. On failure: as read().
void confirm_seen(context const& context);

/// Calls `body`, and again where its reply is lost: for what is as good twice as once.
template <class F>
auto insist(F const& body) {
  for (;;) {
    try {
      return body();
    } catch (lost_reply const&) {
    }
  }
}

/// Pauses that grow from about 1 ms to 1 s, each a random part of its limit.
class backoff {
 public:
  explicit backoff(std::chrono::milliseconds patience);
  /// Sleeps; false when the patience is over.
  bool pause();

 private:
  std::chrono::nanoseconds until_;
  std::chrono::milliseconds next_{2};
};

/// Calls `attempt`, which reads, and then writes only where nothing has changed since, until it
/// returns an answer: a std::optional. Pauses in between, and calls `give_up`, which throws, when
/// the patience is over. A lost reply counts as no answer: the next attempt reads what became of
/// it.
template <class Attempt, class GiveUp>
auto repeat_if_changed(Attempt const& attempt, GiveUp const& give_up) {
  for (backoff pauses(usual_patience);;) {
    try {
      if (auto answer = attempt()) return *std::move(answer);
    } catch (lost_reply const&) {
      continue;
    }
    if (!pauses.pause()) give_up();
  }
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
