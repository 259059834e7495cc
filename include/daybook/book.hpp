// The book: Daybook's tables in one database, and the way to start work.
// Thread safety: any thread may call; a run it gives out belongs to one thread at a time.
// After a fork every call in the child throws fault::forked. The child may open a book of its own;
// on SQLite only where no SQLite book was open at the fork, else it must execute a program (exec).
//
//   daybook::book book{"sqlite:shop.db"};
//   book.migrate();
//   auto attempt = book.start(daybook::process{"nightly"}, daybook::key{"2026-11-21"});
#pragma once

#include <daybook/adopt.hpp>
#include <daybook/aggregation.hpp>
#include <daybook/alerts.hpp>
#include <daybook/book_options.hpp>
#include <daybook/error.hpp>
#include <daybook/detail/export.hpp>
#include <daybook/holders.hpp>
#include <daybook/inspect.hpp>
#include <daybook/names.hpp>
#include <daybook/operate.hpp>
#include <daybook/pending.hpp>
#include <daybook/planner.hpp>
#include <daybook/problems.hpp>
#include <daybook/queue.hpp>
#include <daybook/run.hpp>
#include <daybook/schedule.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {

namespace work {
class engine;
}  // namespace work

/// One migration, as SQL that a person may read, keep and run.
struct migration_info {
  int version = 0;
  std::string name;
  std::string text;
  bool applied = false;
};

class DAYBOOK_EXPORT book {
 public:
  /// `url`: sqlite:PATH, postgresql://..., mysql://... or mariadb://...
  /// Connects, and creates nothing but the SQLite file. Whether a book is there, and of which
  /// version, is seen by what first needs it. On failure: throws daybook::error; the message never
  /// holds the password.
  explicit book(std::string_view url, book_options options = {});
  book(book&&) noexcept;
  book& operator=(book&&) noexcept;
  /// Hands back the lease; never throws. Runs given out must be gone. Waits for asynchronous verbs
  /// that have begun; those that have not fail with fault::closed.
  ~book();

  /// A book that lives on one handle of the application's, for one thread, which is the only one
  /// to use either. It begins and commits transactions of its own there: none may be open when it
  /// is called (join that instead), and a step's body may not call the book again. Nothing renews
  /// in the background: start(), every step and renew() do, so that book_options::lease must be
  /// longer than the longest step, and than what lies between two. A lost COMMIT reply cannot be
  /// resolved on the same connection: the step throws, and the next start() finds out.
  /// Lifetime: the handle must outlive the book. On failure: as book(url).
  static book borrow(::sqlite3& handle, book_options options);
  static book borrow(::pg_conn& handle, book_options options);
  static book borrow(::st_mysql& handle, book_options options);
  /// A book on connections that the application's pool lends: as thread-safe as one by URL, and
  /// renewed in the background. On PostgreSQL it sets its time-outs for each transaction; on
  /// SQLite and MariaDB the connections' own are in force. On failure: as book(url).
  static book lent(lender<::sqlite3> from, book_options options = {});
  static book lent(lender<::pg_conn> from, book_options options = {});
  static book lent(lender<::st_mysql> from, book_options options = {});

  /// Takes part in a transaction that the application has begun on a connection of its own to
  /// this book's database, and will end. On failure: throws daybook::error that names the fact
  /// and the remedy: none is open, it was aborted, it is read only, its COMMIT would not be
  /// durable, results are unread (fault::bad_argument, configuration, read_only); on SQLite
  /// fault::conflict where another writes.
  [[nodiscard]] joined join(::sqlite3& yours);
  [[nodiscard]] joined join(::pg_conn& yours);
  [[nodiscard]] joined join(::st_mysql& yours);

  /// Renews this process's lease now. False: it was declared dead, and its runs are lost.
  /// On failure: throws daybook::error.
  bool renew();

  /// Makes the tables, or brings them to this version; nothing to do is fine. Two at once are
  /// fine. On failure: throws daybook::error; where the engine has no transactional DDL (MariaDB),
  /// a migration cut short is completed by the next call.
  void migrate();
  /// Every migration with its text, applied or not.
  [[nodiscard]] std::vector<migration_info> migrations() const;

  /// Starts or resumes a run: one compare-and-swap. On failure: throws daybook::error.
  started start(process const& name, key const& piece = {}, start_options options = {});
  /// The same on one of the book's threads; see pending. A pending of a run counts as a run.
  pending<started> start_async(process const& name, key const& piece = {},
                               start_options options = {});
  /// A run held by another process, through run::token(): its steps may be recorded, its lease
  /// is the other's. Empty when that attempt no longer holds it.
  [[nodiscard]] std::optional<run> attach(std::string_view token);

  [[nodiscard]] std::vector<run_info> runs(runs_query const& query = {}) const;
  [[nodiscard]] std::optional<run_detail> find(process const& name, key const& piece) const;
  [[nodiscard]] book_status status(status_depth depth = status_depth::newest) const;
  /// Processes that work in this book, by their start, and those that left work behind.
  [[nodiscard]] std::vector<holder_info> holders(holders_query const& query = {}) const;
  /// What a person should know of now, the most urgent first; none: all is well. A few look-ups for
  /// each schedule, queue and plan; of runs those in hand, and the newest 200 that are unknown.
  [[nodiscard]] std::vector<problem> problems(problem_options const& options = {}) const;
  /// One look, and what people are to be told after it: see daybook/alerts.hpp.
  std::vector<alert> look_for_alerts(alert_options const& options, alert_writer const& write);

  // What a person does, with who and why written into the book (daybook/operate.hpp).

  /// Takes a run from whoever holds it: every later write of that attempt is refused, and anyone
  /// resumes it. Empty: there is no such run; false: nobody holds it.
  std::optional<bool> release(process const& name, key const& piece, remark const& by);
  /// The next start() begins afresh, also where it was asked to be done once. Empty: there is no
  /// such run; false: somebody holds it, and nothing was changed: release() comes first.
  std::optional<bool> restart(process const& name, key const& piece, remark const& by);
  /// Settles an at-most-once step whose outcome is unknown; when it was the last such step, the
  /// run may be resumed. Empty: there is no such run; false: no step of it of that name (any name
  /// when empty) is unknown, or the run is held.
  std::optional<bool> resolve(process const& name, key const& piece, resolution const& how,
                              remark const& by);
  /// Deletes history that nothing needs any more (see prune_options), a piece at a time, so
  /// that it may run beside work. On failure: what was deleted stays deleted.
  pruned prune(prune_options const& what, remark const& by);
  /// What people changed under a key, oldest first.
  [[nodiscard]] std::vector<change_info> changes(process const& name, key const& piece) const;

  /// Makes a queue, or gives it these options; what is in it stays. On failure: throws
  /// daybook::error (fault::bad_argument names the option).
  daybook::queue make_queue(std::string_view name, queue_options const& options = {});
  /// The same with who and why: kept in the book, and read with queue::changes().
  daybook::queue make_queue(std::string_view name, queue_options const& options, remark const& by);
  /// Empty: there is none of that name.
  [[nodiscard]] std::optional<daybook::queue> queue(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> queues() const;

  /// Makes a schedule, or changes it to this: from now on, and what was due by the old one is said
  /// to be skipped. Nodes that serve it hear of it with their next poll. Its ticks are runs, whose
  /// process is its name. On failure: throws daybook::error (fault::bad_argument names the option).
  daybook::schedule make_schedule(std::string_view name, cron const& when,
                                  schedule_options const& options = {});
  /// Empty: there is none of that name.
  [[nodiscard]] std::optional<daybook::schedule> schedule(std::string_view name) const;
  /// Of all but those that were removed, by name.
  [[nodiscard]] std::vector<schedule_info> schedules() const;

  /// Declares how rows of a table of yours are gathered into those of another; again with the same
  /// name is fine, from any process. Checked against the engine's catalogue: columns are there,
  /// their types can hold the sums. On failure: throws daybook::error (fault::bad_argument names
  /// the column and what is wrong with it).
  daybook::aggregation make_aggregation(std::string_view name, aggregation_options const& of);
  /// The names of all that were ever declared.
  [[nodiscard]] std::vector<std::string> aggregations() const;

  /// Makes a planner, or changes it to this; what it knows of keys stays. Its queue must be there.
  /// What changes its queue, its kind or what it sweeps waits for the pass under way.
  /// On failure: throws daybook::error (fault::bad_argument names what cannot be meant,
  /// fault::configuration a pass that was waited for ten seconds).
  daybook::planner make_planner(std::string_view name, planner_options const& of);
  /// Empty: there is none of that name. A pass executes only SQL that this book object was given,
  /// by make_planner() or by the second form, which changes nothing in the book.
  [[nodiscard]] std::optional<daybook::planner> planner(std::string_view name) const;
  [[nodiscard]] std::optional<daybook::planner> planner(std::string_view name,
                                                        planner_options const& declared) const;
  [[nodiscard]] std::vector<std::string> planners() const;

  /// Every precondition of the guarantees, as this database is set up now.
  [[nodiscard]] std::vector<finding> doctor() const;

  /// Runs `body` in a transaction of the book's own connection; what is safe to retry is retried.
  /// Not fenced: for reading, and for preparing tables (not on MariaDB, where DDL commits by
  /// itself and is refused here: use a connection of your own).
  void transact(std::function<void(transaction&)> const& body);

  /// The URL without its password.
  [[nodiscard]] std::string const& url() const noexcept;
  /// "sqlite", "postgres" or "mysql".
  [[nodiscard]] std::string_view dialect() const noexcept;
  /// For the other rooms of this library only.
  [[nodiscard]] work::engine& internals() const noexcept { return *engine_; }

 private:
  explicit book(std::unique_ptr<work::engine> engine) noexcept;

  std::unique_ptr<work::engine> engine_;
};

}  // namespace v1
}  // namespace daybook
