// An intake brings a broker's messages into the book, each once: the effect of a message and the
// record that it was taken are one transaction. See docs/guides/intakes.md.
// Thread safety: any thread may call. Lifetime: the book must outlive it.
//
//   auto paid = book.make_intake("paid", {.into = "events"});
//   node.take_in("paid", orders);                           // or by hand, until there are no more:
//   auto report = paid.take_from(*orders());
#pragma once

#include <daybook/broker.hpp>
#include <daybook/detail/export.hpp>
#include <daybook/intake_options.hpp>
#include <daybook/names.hpp>
#include <daybook/operate.hpp>
#include <daybook/run.hpp>
#include <daybook/time.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace daybook {
inline namespace v1 {

namespace intakes {
class store;
}  // namespace intakes

enum class intake_state : std::uint8_t {
  active = 0,
  paused = 1,   ///< by a person
  stopped = 2,  ///< because of intake_info::error: a person resumes it
};

/// When take_from() returns.
enum class take_until : std::uint8_t {
  end,   ///< all messages are taken that the log had at the beginning, or the queue has none
  stop,  ///< a stop is requested, or the intake is paused or stopped
};

struct take_options {
  int lane = 0;  ///< from 0 up to intake_options::lanes
  take_until until = take_until::end;
  /// Called for the messages of an intake that is declared without a queue.
  intake_body body = {};
  std::stop_token stop = {};
  /// How long to wait for a message before it looks for partitions that are new, or, until `end`,
  /// takes a queue for empty.
  std::chrono::milliseconds wait{1000};
};

struct take_report {
  /// False: another process takes the messages of this lane; nothing was done.
  bool ran = false;
  std::optional<lease_holder> holder = {};
  std::int64_t taken = 0;       ///< messages that had their effect
  std::int64_t duplicates = 0;  ///< messages of a queue that were taken before
  std::int64_t refused = 0;     ///< put aside
  std::int64_t skipped = 0;     ///< gone from the log before they were read
  /// As it was at the end.
  intake_state state = intake_state::active;
  std::string error = {};  ///< why it is stopped
};

/// How far a partition of a log is read.
struct intake_place {
  std::string topic;
  std::int32_t partition = 0;
  std::int64_t next = 0;  ///< the position of the next message
  timestamp moved{};
  std::int64_t taken = 0;
  std::int64_t refused = 0;
  std::int64_t skipped = 0;
};

struct intake_info {
  std::string name;
  intake_options options;
  intake_state state = intake_state::active;
  std::string error = {};                 ///< why it is stopped
  std::int64_t refused = 0;               ///< messages that are put aside now
  std::vector<intake_place> places = {};  ///< of a log
};

/// A message that was put aside.
struct refused_message {
  std::int64_t number = 0;  ///< by which retry() and discard() name it
  std::string topic;
  std::int32_t partition = 0;
  std::optional<std::int64_t> position = {};
  std::string id;  ///< empty: it has none, or none that can be kept
  std::string key;
  std::string body;
  std::string reason;
  int attempts = 0;  ///< how often its effect failed; 0: it never came to that
  timestamp at{};
};

struct refused_query {
  std::int64_t after = 0;  ///< the last number of the page before
  int limit = 100;         ///< 1 to 10 000
};

class DAYBOOK_EXPORT intake {
 public:
  explicit intake(std::shared_ptr<intakes::store> inside) : inside_(std::move(inside)) {}

  [[nodiscard]] std::string const& name() const noexcept;
  /// The declaration when this object was made. take_from() uses the one in force when it begins.
  [[nodiscard]] intake_options const& options() const noexcept;

  // On failure, all: throws daybook::error.

  /// Takes messages, page by page, each page in one transaction. One process at a time for each
  /// lane, as a run of process "intake NAME". No transaction is open while the broker is waited
  /// for. On failure of the broker or the database: throws; earlier pages stay, and the next call
  /// goes on behind them. What cannot be taken for a reason of its own is no failure: see
  /// take_report.
  take_report take_from(broker::log& source, take_options const& options = {});
  take_report take_from(broker::queue& source, take_options const& options = {});

  [[nodiscard]] intake_info info() const;
  /// Messages that are put aside, the oldest first.
  [[nodiscard]] std::vector<refused_message> refused(refused_query const& query = {}) const;
  /// Takes a message that was put aside. False: there is none of that number. On failure: it
  /// stays. error_code::bad_argument if it still cannot be taken, or `body` is missing.
  bool retry(std::int64_t number, audit_note const& note, intake_body const& body = {});
  /// Drops a message that was put aside. False: there is none of that number.
  bool discard(std::int64_t number, audit_note const& note);
  /// Goes on from another position of a partition; messages before it are not taken, those behind
  /// it are, also if they were taken before. Also while lanes run. False: the partition is unknown.
  bool move(broker::log_place const& place, audit_note const& note);
  /// Takes nothing until it is resumed; lanes notice within a second. False: nothing was changed.
  bool pause(audit_note const& note);
  /// Also after a stop, whose error is forgotten.
  bool resume(audit_note const& note);
  /// What people changed, oldest first.
  [[nodiscard]] std::vector<change_info> changes() const;

  /// For the other rooms of this library only.
  [[nodiscard]] intakes::store& internals() const noexcept { return *inside_; }

 private:
  std::shared_ptr<intakes::store> inside_;
};

}  // namespace v1
}  // namespace daybook
