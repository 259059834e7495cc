// A schedule: a cron expression in a time zone, each tick of which is launched once, by one of any
// number of nodes (daybook/node.hpp). See docs/guides/schedules.md.
// Thread safety: any thread may call. Lifetime: the book must outlive it.
//
//   auto leads = book.make_schedule("daily-leads", "0 0 * * *", {.zone = "Asia/Shanghai"});
//   leads.trigger({.actor = "anna", .reason = "the partner lost the file"});
#pragma once

#include <daybook/cron.hpp>
#include <daybook/detail/export.hpp>
#include <daybook/operate.hpp>
#include <daybook/time.hpp>
#include <daybook/zone.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {

namespace schedules {
class store;
}  // namespace schedules

/// What to do with missed ticks: no node was up, or (overlap::queue) an earlier one took long.
enum class catch_up : std::uint8_t {
  last = 0,  ///< runs the newest, once; the others are skipped, and its window covers them
  all = 1,   ///< runs each, oldest first; at most the newest `max_ticks`
  skip = 2,  ///< skips ticks later than `grace`
};

/// What to do with a tick that comes while an earlier one of its schedule runs.
enum class overlap : std::uint8_t {
  skip = 0,   ///< skips it; the next tick's window covers it
  queue = 1,  ///< lets it wait; then catch_up decides
};

struct schedule_options {
  std::string zone = "UTC";
  clock_changes changes = {};  ///< what a change of clocks does to a fixed time of day
  daybook::catch_up catch_up = catch_up::last;
  int max_ticks = 1000;            ///< the most ticks that catch_up::all runs; 1 to 100 000
  std::chrono::seconds grace{60};  ///< how late, with catch_up::skip; a second to a year
  daybook::overlap overlap = overlap::skip;
  int attempts = 3;  ///< a tick has failed after this many failures; 1 to 1000
  /// The pause after the first failure; doubled after each further one, with a jitter of a tenth.
  /// Up to a year.
  std::chrono::milliseconds backoff = std::chrono::minutes{1};
  std::chrono::milliseconds longest_backoff = std::chrono::hours{1};
  int crash_limit = 3;  ///< a tick has failed after this many workers died with it; 1 to 100
  /// How many of the newest ticks are kept, 10 to 1 000 000, with their runs; and ten times as many
  /// failed ones. A deleted tick never runs again.
  int keep = 1000;
  /// The instant at which the ticks of a new schedule, and its first window, begin; empty: now.
  std::optional<timestamp> since = {};
  friend bool operator==(schedule_options const&, schedule_options const&) = default;
};

enum class tick_state : std::uint8_t { due = 0, running = 1, done = 2, failed = 3, skipped = 4 };

/// [from, to). The windows of launched ticks tile: each begins where the one launched before ends.
struct tick_window {
  timestamp from;
  timestamp to;
  friend bool operator==(tick_window const&, tick_window const&) = default;
};

/// A tick; or several in a row that were skipped for one reason, from `first` to `at`.
struct tick_info {
  timestamp at;
  timestamp first;         ///< as `at`, but where several were skipped
  std::int64_t count = 1;  ///< how many; more than 100 000 are not counted
  tick_state state = tick_state::due;
  tick_window window;                 ///< empty (from == to) where it was skipped
  std::optional<timestamp> due;       ///< of a due tick: when it is tried next
  std::optional<timestamp> launched;  ///< its first attempt
  std::optional<timestamp> ended;
  int failures = 0;
  int crashes = 0;
  bool by_hand = false;
  std::string reason;  ///< why it was skipped, or failed last
  std::string run;     ///< the key of its run, whose process is the schedule's name
  std::string node;    ///< of one that is running: the host name of the process that runs it
  std::int64_t pid = 0;
  /// Of one that is running: since when nobody runs it, for its process ended or died, or its run
  /// was released. A node that serves the schedule goes on with it.
  std::optional<timestamp> interrupted;
};

/// Which ticks to list, the newest first.
struct ticks_query {
  std::optional<tick_state> state = {};
  std::optional<timestamp> before = {};  ///< the last one of the page before
  int limit = 100;                       ///< 1 to 10 000
};

enum class schedule_state : std::uint8_t { active = 0, paused = 1, removed = 2 };

struct schedule_info {
  std::string name;
  std::string cron;
  schedule_options options;
  schedule_state state = schedule_state::active;
  timestamp decided;                 ///< all ticks up to here are launched or skipped
  timestamp window;                  ///< where the next window begins
  std::optional<timestamp> running;  ///< the tick that is running
  /// The tick that comes next, after the database's now; empty where none ever will, it is not
  /// active, or this system does not have its zone.
  std::optional<timestamp> next;
  std::string node;                      ///< of the process that runs the tick, or ran it last
  std::int64_t pid = 0;                  ///< likewise
  std::optional<timestamp> interrupted;  ///< as tick_info::interrupted, of the tick that is running
  std::optional<timestamp>
      overdue;  ///< since when a tick waits that no node launches, or goes on with
};

class DAYBOOK_EXPORT schedule {
 public:
  explicit schedule(std::shared_ptr<schedules::store> inside) : inside_(std::move(inside)) {}

  [[nodiscard]] std::string const& name() const noexcept;
  // On failure, all: throws daybook::error; error_code::bad_argument where it was never made.
  [[nodiscard]] schedule_info info() const;

  // Changes that a person makes. The book keeps who and why (book::changes of its name).

  /// A tick now, launched by the next node that looks: its window ends now, and the next one's
  /// begins there. Returns the tick. Also where it is paused. On failure: error_code::bad_argument
  /// where this system does not have its zone.
  timestamp trigger(audit_note const& note);
  /// A tick that failed is due again, with no failure or crash counted, in its own window. False:
  /// there is no such tick, or it has not failed.
  bool retry(timestamp tick, audit_note const& note);
  /// Nothing is launched while it is paused, but what is asked for by hand; what runs goes on.
  /// Ticks that pass meanwhile are skipped. False: it was so before.
  bool pause(audit_note const& note);
  bool resume(audit_note const& note);
  /// Ends the schedule. A tick that runs goes on; its ticks are kept. Made again under this name,
  /// it goes on where it was, so no tick is launched twice. False: it was so before.
  bool remove(audit_note const& note);

  [[nodiscard]] std::vector<tick_info> ticks(ticks_query const& query = {}) const;
  [[nodiscard]] std::optional<tick_info> find(timestamp tick) const;

  /// For the other rooms of this library only.
  [[nodiscard]] schedules::store& internals() const noexcept { return *inside_; }

 private:
  std::shared_ptr<schedules::store> inside_;
};

}  // namespace v1
}  // namespace daybook
