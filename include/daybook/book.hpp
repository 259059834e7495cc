// The book: Daybook's tables in one database, and the way to start work.
// Thread safety: any thread may call; a run it gives out belongs to one thread at a time.
// After a fork every call in the child throws error_code::forked. The child may open a book of its
// own; on SQLite only where no SQLite book was open at the fork, else it must execute a program
// (exec).
//
//   daybook::book book{"sqlite:shop.db"};
//   book.migrate();
//   auto attempt = book.start(daybook::process{"nightly"}, daybook::key{"2026-11-21"});
#pragma once

#include <daybook/access.hpp>
#include <daybook/adopt.hpp>
#include <daybook/aggregation.hpp>
#include <daybook/alerts.hpp>
#include <daybook/book_options.hpp>
#include <daybook/error.hpp>
#include <daybook/detail/export.hpp>
#include <daybook/holders.hpp>
#include <daybook/inspect.hpp>
#include <daybook/intake.hpp>
#include <daybook/migration.hpp>
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

class DAYBOOK_EXPORT book {
 public:
  /// `url`: sqlite:PATH, postgresql://..., mysql://... or mariadb://...
  /// Connects, and creates nothing but the SQLite file. The first call that needs the book checks
  /// that it is there, and its version. On failure: throws daybook::error; the message never holds
  /// the password.
  explicit book(std::string_view url, book_options options = {});
  book(book&&) noexcept;
  book& operator=(book&&) noexcept;
  /// Hands back the lease; never throws. All runs of this book must be destroyed before. Waits for
  /// asynchronous verbs that have begun; the others fail with error_code::closed.
  ~book();

  /// A book on one handle of the application's, both for one thread alone. It begins and commits
  /// its own transactions there: call it only while none is open (join an open one instead), and
  /// not from a step's body. Nothing renews the lease in the background: start(), every step and
  /// renew() do. So book_options::lease must be longer than the longest step, and than the pause
  /// between two. A lost COMMIT reply cannot be resolved on the same connection: the step throws,
  /// and the next start() finds out.
  /// Lifetime: the handle must outlive the book. On failure: as book(url).
  static book adopt_connection(::sqlite3& handle, book_options options);
  static book adopt_connection(::pg_conn& handle, book_options options);
  static book adopt_connection(::st_mysql& handle, book_options options);
  /// A book on connections that the application's pool lends: as thread-safe as one by URL, and
  /// renewed in the background. On PostgreSQL it sets its time-outs for each transaction; on
  /// SQLite and MariaDB the connections' own are in force. On failure: as book(url).
  static book from_pool(connection_source<::sqlite3> connections, book_options options = {});
  static book from_pool(connection_source<::pg_conn> connections, book_options options = {});
  static book from_pool(connection_source<::st_mysql> connections, book_options options = {});

  /// Takes part in a transaction that the application has begun, and will end, on its own
  /// connection to this book's database. On failure: throws daybook::error that names the fact and
  /// the remedy: none is open, it was aborted, it is read only, its COMMIT would not be durable,
  /// results are unread (error_code::bad_argument, configuration, read_only); on SQLite
  /// error_code::conflict if another writes.
  [[nodiscard]] external_transaction join(::sqlite3& yours);
  [[nodiscard]] external_transaction join(::pg_conn& yours);
  [[nodiscard]] external_transaction join(::st_mysql& yours);

  /// Renews this process's lease now. lease_state::lost: this process was declared dead, and its
  /// runs are lost. On failure: throws daybook::error.
  lease_state renew();

  /// Makes the tables, or brings them to this version. May be repeated, and called by several
  /// processes at once. On failure: throws daybook::error; if the engine has no transactional DDL
  /// (MariaDB), the next call completes a migration that was cut short.
  void migrate();
  /// Every migration with its text, applied or not.
  [[nodiscard]] std::vector<migration_info> migrations() const;

  /// Starts or resumes a run: one compare-and-swap. On failure: throws daybook::error.
  start_result start(process const& name, key const& run_key = {}, start_options options = {});
  /// The same on one of the book's threads; see pending. A pending of a run counts as a run.
  pending<start_result> start_async(process const& name, key const& run_key = {},
                                    start_options options = {});
  /// Takes part in a run that another process holds, by its run::token(). This process may record
  /// steps; the lease is the other's. Empty if that attempt no longer holds the run.
  [[nodiscard]] std::optional<run> attach(std::string_view token);

  [[nodiscard]] std::vector<run_info> runs(runs_query const& query = {}) const;
  [[nodiscard]] std::optional<run_detail> find(process const& name, key const& run_key) const;
  [[nodiscard]] book_status status(status_depth depth = status_depth::newest) const;
  /// Processes that work in this book, by their start, and those that left work behind.
  [[nodiscard]] std::vector<holder_info> holders(holders_query const& query = {}) const;
  /// Work that is not done, or waits for a person, most urgent first; empty: all is well. Looks at
  /// each schedule, queue and plan, at runs in hand, and at the newest 200 unknown ones.
  [[nodiscard]] std::vector<problem> problems(problem_options const& options = {}) const;
  /// One look, and what people are to be told after it: see daybook/alerts.hpp.
  std::vector<alert> look_for_alerts(alert_options const& options, alert_writer const& write);

  // Changes that a person makes. The book keeps who and why (daybook/operate.hpp).

  /// Takes a run from whoever holds it: every later write of that attempt is refused, and anyone
  /// resumes it. change_outcome::unchanged: nobody holds it.
  change_outcome release(process const& name, key const& run_key, audit_note const& note);
  /// The next start() begins afresh, also where the run is done once.
  /// change_outcome::unchanged: somebody holds it: release() comes first.
  change_outcome restart(process const& name, key const& run_key, audit_note const& note);
  /// Says how an at-most-once step of unknown outcome went. After the last one the run may be
  /// resumed. change_outcome::unchanged: no step of that name (empty: of any name) is unknown, or
  /// the run is held.
  change_outcome resolve(process const& name, key const& run_key, resolution const& resolution,
                         audit_note const& note);
  /// Deletes history that nothing needs any more, a piece at a time: it may run beside work.
  prune_report prune(prune_options const& options, audit_note const& note);
  /// What people changed under a key, oldest first.
  [[nodiscard]] std::vector<change_info> changes(process const& name, key const& run_key) const;
  /// What people changed in the whole book, except in aggregations, the newest first.
  [[nodiscard]] std::vector<change_info> changes(changes_query const& query) const;

  // Who may use the console and the HTTP API (daybook/access.hpp). On failure: daybook::error.

  /// Returns the text, 93 bytes: "dbk_ID_" and 72 hexadecimal digits. It is told here only.
  std::string make_token(token_options const& options, audit_note const& note);
  /// Whose text it is. Empty: it is none of that kind, or not valid any more. A code is used up.
  /// Takes as long for a wrong text as for a right one.
  [[nodiscard]] std::optional<token_info> check_token(std::string_view text,
                                                      token_kind kind = token_kind::token);
  /// All that are valid, the oldest first.
  [[nodiscard]] std::vector<token_info> tokens() const;
  /// False: there is none of that id that is valid.
  bool revoke_token(std::string_view id, audit_note const& note);

  /// Makes a queue, or gives it these options; its tasks stay. On failure: throws daybook::error
  /// (error_code::bad_argument names the option).
  daybook::queue make_queue(std::string_view name, queue_options const& options = {});
  /// The same; the book keeps who and why (queue::changes()).
  daybook::queue make_queue(std::string_view name, queue_options const& options,
                            audit_note const& note);
  /// Empty: there is none of that name.
  [[nodiscard]] std::optional<daybook::queue> queue(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> queues() const;

  /// Makes a schedule, or changes it from now on. Ticks due by the old expression are recorded as
  /// skipped. Its nodes see the change at their next poll. Its ticks are runs of the process of its
  /// name. On failure: throws daybook::error (error_code::bad_argument names the option).
  daybook::schedule make_schedule(std::string_view name, cron const& when,
                                  schedule_options const& options = {});
  /// Empty: there is none of that name.
  [[nodiscard]] std::optional<daybook::schedule> schedule(std::string_view name) const;
  /// Of all but those that were removed, by name.
  [[nodiscard]] std::vector<schedule_info> schedules() const;

  /// Declares how rows of a table of yours are added up into rows of another. May be repeated.
  /// Checked against the engine's catalogue: the columns exist, their types can hold the sums. On
  /// failure: throws daybook::error (error_code::bad_argument names the column and the reason).
  daybook::aggregation make_aggregation(std::string_view name, aggregation_options const& options);
  /// The names of all aggregations that were ever declared.
  [[nodiscard]] std::vector<std::string> aggregations() const;

  /// Makes a planner, or changes it; its knowledge of keys stays. Its queue must exist. A change of
  /// its queue, its kind or its swept table waits for the pass under way.
  /// On failure: throws daybook::error (error_code::bad_argument names the option,
  /// error_code::configuration a pass that did not end in ten seconds).
  daybook::planner make_planner(std::string_view name, planner_options const& options);
  /// Empty: there is none of that name. A pass executes only SQL that this book object was given,
  /// by make_planner() or by the second form, which changes nothing in the book.
  [[nodiscard]] std::optional<daybook::planner> planner(std::string_view name) const;
  [[nodiscard]] std::optional<daybook::planner> planner(std::string_view name,
                                                        planner_options const& declared) const;
  [[nodiscard]] std::vector<std::string> planners() const;

  /// Makes an intake of a broker's messages, or changes it; how far it is stays. Its queue must
  /// exist. On failure: throws daybook::error.
  daybook::intake make_intake(std::string_view name, intake_options const& options);
  /// Empty: there is none of that name.
  [[nodiscard]] std::optional<daybook::intake> intake(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> intakes() const;

  /// Every precondition of the guarantees, as this database is set up now.
  [[nodiscard]] std::vector<check_result> doctor() const;

  /// Runs `body` in a transaction on a connection of the book's, and retries it if that is safe.
  /// There is no fence: use it to read, and to prepare tables (not on MariaDB, where DDL commits by
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
