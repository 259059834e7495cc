// SQLite through its C API. One connection a session; every transaction starts as a writer
// (BEGIN IMMEDIATE), for a reader that turns writer is refused at once when another wrote before
// it, whatever the time-out. Writers take turns (sqlite_turn.hpp): SQLite's own time-out sleeps
// ever longer and lets the newest comer win, and random pauses are fair in the long run only.
//
// Below 3.51.3 SQLite can corrupt a WAL file when two connections checkpoint at once
// (https://sqlite.org/wal.html, "The WAL-Reset Bug"). So no connection of ours checkpoints by
// itself: the one that finds the log long does it alone, under a lock on a side file.
#include "drivers/drivers.hpp"
#include "drivers/handle.hpp"
#include "drivers/sqlite/sqlite_changes.hpp"
#include "drivers/sqlite/sqlite_error.hpp"
#include "drivers/sqlite/sqlite_file.hpp"
#include "drivers/sqlite/sqlite_process.hpp"
#include "drivers/sqlite/sqlite_rows.hpp"
#include "drivers/sqlite/sqlite_script.hpp"
#include "drivers/sqlite/sqlite_share.hpp"
#include "drivers/sqlite/sqlite_side_file.hpp"
#include "drivers/sqlite/sqlite_turn.hpp"
#include "drivers/sqlite/sqlite_values.hpp"
#include "drivers/sqlite/sqlite_wait.hpp"

#include "base/fuse.hpp"
#include "base/platform.hpp"

#include <daybook/error.hpp>

#include <thread>
#include <unordered_map>
#include <utility>

#include <sqlite3.h>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

constexpr db::dialect about{
    .name = "sqlite",
    .quote = '"',
    .backslash_escapes = false,
    .asks_for_delimiter = false,
    .ddl_in_transaction = true,
    .compounds = false,
    .one_writer = true,
    // Milliseconds: `unixepoch('subsec')` needs 3.42. The product is exact after rounding.
    .real_clock = "(cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) * 1000)",
};

/// A write-ahead log of so many pages is written back, as SQLite itself would do.
constexpr int long_log = 1000;

void close_database(::sqlite3* handle) noexcept { ::sqlite3_close_v2(handle); }
struct finalize {
  void operator()(::sqlite3_stmt* handle) const noexcept { ::sqlite3_finalize(handle); }
};
using database = std::unique_ptr<::sqlite3, end_of<::sqlite3, close_database>>;
using prepared = std::unique_ptr<::sqlite3_stmt, finalize>;

class sqlite_session final : public db::session {
 public:
  sqlite_session(db::url const& url, db::connect_options const& options);
  sqlite_session(::sqlite3& handle, transactions mode, db::connect_options const& options,
                 give_back<::sqlite3> after);
  ~sqlite_session() override;

  db::table run(db::statement const& statement, std::span<value const> values) override;
  void script(std::string_view text) override;
  bool listen(std::string_view) override { return changes_.begin(*db_); }
  bool hear(deadline till, base::bell const& b) override { return changes_.wait(*db_, till, b); }
  void begin(isolation) override;
  void commit() override;
  void rollback() noexcept override;
  [[nodiscard]] bool restore() noexcept override;
  bool share(std::function<bool(session&)> const& body) override;
  [[nodiscard]] bool usable() const noexcept override { return !cut_ && !broken_; }
  void cut() noexcept override { cut_ = true; }
  void interrupt() noexcept override { ::sqlite3_interrupt(db_.get()); }
  [[nodiscard]] db::dialect const& speaks() const noexcept override { return about; }
  [[nodiscard]] db::native handle() noexcept override {
    settings_ = true;
    return db_.get();
  }
  [[nodiscard]] std::string schema() override { return "main"; }
  [[nodiscard]] std::vector<db::fact> facts() override;

 private:
  static int wait_for_writer(void* self, int tries);
  static int after_commit(void* self, ::sqlite3* db, char const* schema, int pages);
  void open(int flags);
  void stand_in_line();
  void check_handle();
  void know_rows();
  void check_no_transaction(std::string const& statement) const;
  void prepare_session();
  void set_up();
  void write_ahead();
  void execute(char const* text);
  void check_usable(bool at_commit);
  void check_transaction_goes_on(std::string const& statement) const;
  int all_rows(::sqlite3_stmt* statement, db::table& table);
  int begin_writing() noexcept;
  void checkpoint() noexcept;
  [[noreturn]] void fail(int code, std::string const& statement);
  ::sqlite3_stmt* prepare(db::statement const& statement);

  std::string shown_;
  sqlite_process process_;  // from before the connection to after it
  std::string path_;
  bool in_memory_ = false;
  bool joined_ = false;  ///< the transaction is the application's
  writers_wait wait_;
  turn turn_;  ///< of the open transaction
  database db_;
  rows_table rows_;  // gone before the connection, and after the statements
  std::unordered_map<std::string, prepared> statements_;
  sqlite_changes changes_;  // its statement ends before the connection
  int log_pages_ = 0;
  bool open_ = false;
  bool settings_ = false;  ///< they may have changed since restore()
  bool cut_ = false;
  bool broken_ = false;
};

sqlite_session::sqlite_session(db::url const& url, db::connect_options const& options)
    : shown_(url.shown),
      process_(shown_),
      path_(url.path),
      in_memory_(url.path.starts_with(memory_name)),
      wait_(options.statement_timeout.count() > 0
                ? std::min(options.statement_timeout, options.lock_timeout)
                : options.lock_timeout) {
  if (auto const kind = in_memory_ ? std::string() : base::network_file_system(path_);
      !kind.empty()) {
    throw error({.kind = error_code::configuration},
                shown_ + ": the file is on a network file system (" + kind +
                    "), whose locks SQLite cannot trust: put it on a local disk, or use PostgreSQL "
                    "or MariaDB");
  }
  // URI names are only for the books in memory that the testing header opens.
  open(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
       (in_memory_ ? SQLITE_OPEN_URI : 0));
  ::sqlite3_extended_result_codes(db_.get(), 1);
  prepare_session();
  if (!in_memory_) stand_in_line();
}

/// Its busy handler, its hooks and its way to checkpoint stay the application's.
sqlite_session::sqlite_session(::sqlite3& handle, transactions mode,
                               db::connect_options const& options, give_back<::sqlite3> after)
    : shown_(shown(handle)),
      process_(shown_),
      joined_(mode == transactions::applications),
      wait_(options.lock_timeout),
      db_(&handle, end_of<::sqlite3, close_database>(std::move(after))),
      open_(joined_) {
  char const* const file = ::sqlite3_db_filename(&handle, "main");
  path_ = file == nullptr ? "" : file;
  in_memory_ = path_.empty();
  check_handle();
  know_rows();
  if (!in_memory_ && !joined_) stand_in_line();
}

sqlite_session::~sqlite_session() { db_.get_deleter().set_broken(broken_ || cut_); }

void sqlite_session::open(int flags) {
  ::sqlite3* raw = nullptr;
  int const code = ::sqlite3_open_v2(path_.c_str(), &raw, flags, nullptr);
  db_.reset(raw);
  if (code != SQLITE_OK) fail(code, "connect");
}

void sqlite_session::check_handle() {
  if (::sqlite3_db_readonly(db_.get(), "main") == 1) {
    throw error({.kind = error_code::read_only},
                shown_ + ": the handle is read-only: open it with SQLITE_OPEN_READWRITE");
  }
  if (!joined_) {
    check_no_transaction("adopt");
  } else if (::sqlite3_get_autocommit(db_.get()) != 0) {
    throw error({.kind = error_code::bad_argument},
                shown_ +
                    ": no transaction is open on the handle, or an earlier error has rolled it "
                    "back: send BEGIN IMMEDIATE, then join it");
  }
  auto const found = run({"adopt", "pragma synchronous", {}, {}}, {});
  constexpr std::int64_t full = 2;
  if (!in_memory_ && std::get<std::int64_t>(found.cells.at(0)) < full) {
    throw error({.kind = error_code::configuration},
                shown_ +
                    ": the handle's commits may be lost with the power (synchronous is not FULL): "
                    "send 'pragma synchronous = full' before the transaction");
  }
}

void sqlite_session::know_rows() {
  int const code = rows_.add(*db_);
  if (code != SQLITE_OK) fail(code, "connect");
}

/// An application's handle has one transaction at a time.
void sqlite_session::check_no_transaction(std::string const& statement) const {
  if (db_.get_deleter().ours() || open_ || ::sqlite3_get_autocommit(db_.get()) != 0) return;
  throw error({.kind = error_code::bad_argument, .statement = statement},
              shown_ +
                  ": a transaction of the application is open on the handle: end it first, or "
                  "join it (book::join)");
}

void sqlite_session::prepare_session() {
  know_rows();
  // NO_CKPT_ON_CLOSE: closing must not checkpoint behind the side file's lock either.
  ::sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  if (::sqlite3_db_readonly(db_.get(), "main") == 1) {
    throw error({.kind = error_code::read_only},
                shown_ + ": the file is read-only: make it and its folder writable for this user");
  }
  set_up();
  if (!in_memory_) write_ahead();
}

void sqlite_session::set_up() {
  ::sqlite3_busy_handler(db_.get(), &sqlite_session::wait_for_writer, this);
  execute("pragma synchronous = full; pragma mmap_size = 0; pragma foreign_keys = on;");
  ::sqlite3_wal_autocheckpoint(db_.get(), 0);
  ::sqlite3_wal_hook(db_.get(), &sqlite_session::after_commit, this);
}

/// A file is opened anew, which costs less than to know all that can be set. In memory it would be
/// gone.
bool sqlite_session::restore() noexcept {
  if (!std::exchange(settings_, false) || !db_.get_deleter().ours()) return usable();
  if (!in_memory_ || !usable() || ::sqlite3_get_autocommit(db_.get()) == 0) return false;
  try {
    set_up();
    execute("pragma query_only = off; pragma ignore_check_constraints = off;");
    return true;
  } catch (std::exception const&) {
    return false;
  }
}

void sqlite_session::write_ahead() {
  // Changing the mode does not wait for another process that is changing it too.
  for (auto const start = base::boot_clock::now();;) {
    int const code =
        ::sqlite3_exec(db_.get(), "pragma journal_mode = wal", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return;
    if ((code & 0xff) != SQLITE_BUSY || base::boot_clock::now() - start > wait_.patience()) {
      fail(code, "connect");
    }
    std::this_thread::sleep_for(base::jitter(std::chrono::milliseconds(10)));
  }
}

int sqlite_session::wait_for_writer(void* self, int tries) {
  return static_cast<sqlite_session*>(self)->wait_.pause(tries) ? 1 : 0;
}

int sqlite_session::after_commit(void* self, ::sqlite3*, char const*, int pages) {
  static_cast<sqlite_session*>(self)->log_pages_ = pages;
  return SQLITE_OK;
}

void sqlite_session::fail(int code, std::string const& statement) {
  // An application's handle need not give the extended codes.
  int const extended = db_ ? ::sqlite3_extended_errcode(db_.get()) : code;
  if ((extended & 0xff) == (code & 0xff)) code = extended;
  auto facts = classify_sqlite(code);
  facts.native_code = code;
  facts.statement = statement;
  std::string const cause = db_ ? ::sqlite3_errmsg(db_.get()) : ::sqlite3_errstr(code);
  if (facts.breaks_connection) broken_ = true;
  auto const help = sqlite_remedy(facts);
  throw error(facts, shown_ + ": " + cause + (help.empty() ? "" : ": " + std::string(help)));
}

void sqlite_session::check_usable(bool at_commit) {
  if (cut_) {
    throw error({.kind = error_code::unreachable,
                 .retryable = true,
                 .in_doubt = at_commit,
                 .breaks_connection = true},
                shown_ + ": the connection was cut");
  }
  if (in_memory_ || joined_ || (open_ && !at_commit) || !file_moved(*db_)) return;
  broken_ = true;
  refuse_moved_file(shown_);
}

void sqlite_session::execute(char const* text) {
  check_usable(false);
  int const code = ::sqlite3_exec(db_.get(), text, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code, "script");
}

void sqlite_session::script(std::string_view text) {
  check_usable(false);
  int const code = run_sqlite_script(*db_, std::string(text));
  if (code != SQLITE_DONE) fail(code, "script");
}

/// By the name that SQLite knows: links to one file share a side file, as they share the log.
void sqlite_session::stand_in_line() {
  path_ = ::sqlite3_db_filename(db_.get(), "main");
  wait_.stand_in_line(path_);
}

int sqlite_session::begin_writing() noexcept {
  return ::sqlite3_exec(db_.get(), "begin immediate", nullptr, nullptr, nullptr);
}

void sqlite_session::begin(isolation) {
  if (joined_) refuse_to_end(shown_);
  check_no_transaction("begin");
  check_usable(false);
  turn mine;
  int const code = wait_.in_turn(mine, db_.get_deleter().ours(), [&] { return begin_writing(); });
  if (code != SQLITE_OK) fail(code, "begin");
  turn_ = std::move(mine);
  open_ = true;
}

bool sqlite_session::share(std::function<bool(session&)> const& body) {
  // An application's handle does nothing for others, nor they for it: it has hooks of its own.
  if (wait_.line() == nullptr || !db_.get_deleter().ours()) return session::share(body);
  check_usable(false);
  shared_work mine(body);
  int const code = wait_.in_turn(turn_, mine, [&] { return begin_writing(); });
  if (mine.arrived()) return mine.result();
  if (code != SQLITE_OK) {
    turn_.give_back();
    fail(code, "begin");
  }
  open_ = true;
  std::vector<passenger*> others;
  if (turn_) others = wait_.line()->take_along(most_together);
  do_together(*this, mine, others);
  wait_.line()->arrived(others);
  return mine.result();
}

/// SQLite ends a transaction by itself for ON CONFLICT ROLLBACK, and may for FULL, IOERR, NOMEM
/// and INTERRUPT. What a body that caught the error did next would commit by itself.
void sqlite_session::check_transaction_goes_on(std::string const& statement) const {
  if (!open_ || ::sqlite3_get_autocommit(db_.get()) == 0) return;
  throw error({.kind = error_code::statement, .statement = statement},
              shown_ + (joined_ ? ": the joined transaction is over, ended by the application or "
                                  "rolled back by an earlier error: begin again, and join that"
                                : ": an error before this statement has rolled back the whole "
                                  "transaction: let such errors out of the step's body"));
}

void sqlite_session::commit() {
  if (joined_) refuse_to_end(shown_);
  check_usable(true);
  check_transaction_goes_on("commit");
  // A COMMIT that finds a reader in its way has done nothing and may be sent again.
  for (int tries = 0;; ++tries) {
    int const code = ::sqlite3_exec(db_.get(), "commit", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) break;
    if ((code & 0xff) != SQLITE_BUSY || tries == 3) fail(code, "commit");
  }
  open_ = false;
  // Within the turn: with nobody else at it the whole log is written back, and begins anew.
  if (log_pages_ >= long_log) checkpoint();
  turn_.give_back();
}

void sqlite_session::rollback() noexcept {
  if (joined_) return;  // the application's to roll back
  auto const mine = std::move(turn_);
  open_ = false;
  // FULL, IOERR and NOMEM may have ended the transaction already.
  if (::sqlite3_get_autocommit(db_.get()) != 0) return;
  if (::sqlite3_exec(db_.get(), "rollback", nullptr, nullptr, nullptr) != SQLITE_OK) {
    broken_ = true;
  }
}

void sqlite_session::checkpoint() noexcept {
  log_pages_ = 0;
  side_file const side(path_, "-checkpoint");
  // Where it cannot be had, the log stays long, and the next commit tries again.
  if (!side.open() || !side.try_lock()) return;
  ::sqlite3_wal_checkpoint_v2(db_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
}

::sqlite3_stmt* sqlite_session::prepare(db::statement const& statement) {
  auto& known = statements_[statement.text];
  // An explanation is never executed, so that SQLite does not notice that the schema was changed.
  if (known && ::sqlite3_stmt_isexplain(known.get()) != 0) known.reset();
  if (!known) {
    ::sqlite3_stmt* raw = nullptr;
    char const* tail = nullptr;
    int const code = ::sqlite3_prepare_v3(db_.get(), statement.text.data(),
                                          static_cast<int>(statement.text.size()),
                                          SQLITE_PREPARE_PERSISTENT, &raw, &tail);
    known.reset(raw);
    if (code != SQLITE_OK) fail(code, statement.name);
    auto const rest = std::string_view(statement.text)
                          .substr(static_cast<std::size_t>(tail - statement.text.data()));
    if (raw == nullptr || rest.find_first_not_of(" \t\r\n;") != std::string_view::npos) {
      known.reset();
      throw error({.kind = error_code::statement, .statement = statement.name},
                  shown_ + ": a statement must be one statement, without text after its ';'");
    }
  }
  return known.get();
}

/// SQLITE_DONE, or what went wrong.
int sqlite_session::all_rows(::sqlite3_stmt* statement, db::table& table) {
  ::sqlite3_reset(statement);
  table.cells.clear();
  for (;;) {
    int const code = ::sqlite3_step(statement);
    if (code != SQLITE_ROW) return code;
    for (std::size_t at = 0; at < table.width; ++at) {
      table.cells.push_back(column(*statement, static_cast<int>(at)));
    }
  }
}

db::table sqlite_session::run(db::statement const& command, std::span<value const> values) {
  check_usable(false);
  check_no_transaction(command.name);
  check_transaction_goes_on(command.name);
  settings_ = settings_ || command.changes_session;
  auto* const statement = prepare(command);
  struct reset_after {
    ::sqlite3_stmt* command;
    ~reset_after() {
      ::sqlite3_reset(command);
      ::sqlite3_clear_bindings(command);
    }
  } const reset{statement};
  auto const wanted = static_cast<std::size_t>(::sqlite3_bind_parameter_count(statement));
  if (values.size() < wanted || values.size() != command.inputs.size()) {
    throw error({.kind = error_code::bad_argument, .statement = command.name},
                "a statement has " + std::to_string(command.inputs.size()) + " parameters, and " +
                    std::to_string(values.size()) + " values were given");
  }
  for (std::size_t at = 0; at < wanted; ++at) {
    int const code = bind(*statement, static_cast<int>(at) + 1, values[at]);
    if (code != SQLITE_OK) fail(code, "bind");
  }
  db::table out;
  out.width = static_cast<std::size_t>(::sqlite3_column_count(statement));
  auto const before = ::sqlite3_total_changes64(db_.get());
  bool const writes = ::sqlite3_stmt_readonly(statement) == 0;
  bool const alone = writes && ::sqlite3_get_autocommit(db_.get()) != 0;
  auto const go = [&] { return all_rows(statement, out); };
  turn mine;
  int const code = alone ? wait_.in_turn(mine, db_.get_deleter().ours(), go) : go();
  if (code != SQLITE_DONE) fail(code, command.name);
  if (alone && log_pages_ >= long_log) checkpoint();
  if (writes && ::sqlite3_total_changes64(db_.get()) != before) {
    out.affected = ::sqlite3_changes64(db_.get());
  }
  return out;
}

std::vector<db::fact> sqlite_session::facts() {
  auto const network = in_memory_ ? std::string() : base::network_file_system(path_);
  auto const served = in_memory_ ? std::string() : base::fuse_type(path_);
  return {
      {"sqlite_version", ::sqlite3_libversion()},
      {"sqlite_version_number", std::to_string(::sqlite3_libversion_number())},
      {"threadsafe", std::to_string(::sqlite3_threadsafe())},
      {"file_system", network.empty() ? "local" : network},
      {"fuse", base::is_of_a_disk(served) || base::is_network(served) ? "no" : served},
      {"in_memory", in_memory_ ? "yes" : "no"},
  };
}

}  // namespace

db::dialect const& sqlite_dialect() noexcept { return about; }

std::unique_ptr<db::session> connect_sqlite(db::url const& url, db::connect_options const& options,
                                            bool must_exist) {
  if (must_exist && file_missing(url.path)) refuse_moved_file(url.shown);
  return std::make_unique<sqlite_session>(url, options);
}

std::unique_ptr<db::session> adopt(::sqlite3& handle, transactions mode,
                                   db::connect_options const& options, give_back<::sqlite3> after) {
  return std::make_unique<sqlite_session>(handle, mode, options, std::move(after));
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
