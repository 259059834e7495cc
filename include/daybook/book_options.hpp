// How a book is opened, and how a run is started.
// Thread safety: values.
#pragma once

#include <daybook/observer.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <type_traits>

namespace daybook {
inline namespace v1 {

struct book_options {
  /// Where the tables are: a PostgreSQL schema (empty: "public") or a MariaDB database (empty: the
  /// URL's). SQLite has none. The search path is never used.
  std::string schema = {};
  /// In front of every table's name, so that several books fit in one database.
  std::string prefix = "daybook_";
  /// How long this process is presumed alive after a renewal; 1 second to 24 hours. Renewed
  /// every sixth of it in the background.
  std::chrono::milliseconds lease = std::chrono::seconds{30};
  /// The most connections at once, 1 to 1000. One for renewals, and one for each task_fetcher, come
  /// on top.
  unsigned connections = 8;
  /// The most threads for the asynchronous verbs, up to 1000; 0: as many as connections. They start
  /// when there is work.
  unsigned async_threads = 0;
  /// How long to wait for a new connection, or for a free one; 1 ms to 24 hours.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds{10};
  /// Borrowed; may be null.
  daybook::observer* observer = nullptr;
  /// Off only in tests that move the clock by hand.
  bool renew_in_background = true;
  /// migrate() makes a book whose clock tests can move (daybook/testing.hpp).
  bool movable_clock = false;
};

struct start_options {
  bool once = false;     ///< if this key has ever succeeded: start_refusal::done_before
  bool restart = false;  ///< a fresh run, even where an unfinished one could be resumed
  /// After this time (1 ms to 10 years) the run counts as failed, however alive its holder is:
  /// run_state::deadline_passed, every later write of this attempt is refused, and anyone may start
  /// it. An interrupted run keeps its deadline.
  std::optional<std::chrono::milliseconds> deadline = {};
  /// The date of the data that the run works on. An unfinished run keeps its date; a start with
  /// another date gets start_refusal::other_date.
  std::optional<std::chrono::year_month_day> date = {};
};
// g++ 12 destroys an aggregate written inside a co_await expression twice.
static_assert(std::is_trivially_destructible_v<start_options>);

}  // namespace v1
}  // namespace daybook
