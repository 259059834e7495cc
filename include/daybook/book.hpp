// The book: Daybook's tables in one database, and the way to start work.
// Thread safety: any thread may call; a run it gives out belongs to one thread at a time.
// After a fork every call in the child throws fault::forked: open a book of its own there.
//
//   daybook::book book{"sqlite:shop.db"};
//   book.migrate();
//   auto attempt = book.start(daybook::process{"nightly"}, daybook::key{"2026-11-21"});
#pragma once

#include <daybook/error.hpp>
#include <daybook/export.hpp>
#include <daybook/inspect.hpp>
#include <daybook/names.hpp>
#include <daybook/observer.hpp>
#include <daybook/run.hpp>

#include <chrono>
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

struct book_options {
  /// Where the tables are: a PostgreSQL schema ("public" when empty), a MariaDB database (the
  /// URL's when empty); SQLite has none. Never found through a search path.
  std::string schema = {};
  /// In front of every table's name, so that several books fit in one database.
  std::string prefix = "daybook_";
  /// How long this process is presumed alive after a renewal; 1 second to 24 hours. Renewed
  /// every sixth of it in the background.
  std::chrono::milliseconds lease = std::chrono::seconds{30};
  /// At most so many connections at once, beside the one that renews; 1 to 1000.
  unsigned connections = 8;
  std::chrono::milliseconds connect_timeout = std::chrono::seconds{10};
  /// Borrowed; may be null.
  observer* watch = nullptr;
  /// Off only in tests that move the clock by hand.
  bool renew_in_background = true;
  /// migrate() makes a book whose clock tests can move (daybook/testing.hpp).
  bool movable_clock = false;
};

struct start_options {
  bool once = false;     ///< if this key has ever succeeded: refusal::done_before
  bool restart = false;  ///< a fresh run, even where an unfinished one could be resumed
};

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
  /// Connects and looks at the book's version where there is one, and creates nothing but the
  /// SQLite file. On failure: throws daybook::error; the message never holds the password.
  explicit book(std::string_view url, book_options options = {});
  book(book&&) noexcept;
  book& operator=(book&&) noexcept;
  /// Hands back the lease; never throws. Runs given out must be gone.
  ~book();

  /// Makes the tables, or brings them to this version; nothing to do is fine. Two at once are
  /// fine. On failure: throws daybook::error; where the engine has no transactional DDL (MariaDB),
  /// a migration cut short is completed by the next call.
  void migrate();
  /// Every migration with its text, applied or not.
  [[nodiscard]] std::vector<migration_info> migrations() const;

  /// Starts or resumes a run: one compare-and-swap. On failure: throws daybook::error.
  started start(process const& name, key const& piece = {}, start_options options = {});
  /// A run held by another process, through run::token(): its steps may be recorded, its lease
  /// is the other's. Empty when that attempt no longer holds it.
  [[nodiscard]] std::optional<run> attach(std::string_view token);

  [[nodiscard]] std::vector<run_info> runs(runs_query const& query = {}) const;
  [[nodiscard]] std::optional<run_detail> find(process const& name, key const& piece) const;

  /// Every precondition of the guarantees, as this database is set up now.
  [[nodiscard]] std::vector<finding> doctor() const;

  /// Runs `body` in a transaction of the book's own connection; what is safe to retry is retried.
  /// Not fenced: for reading, and for preparing tables.
  void transact(std::function<void(transaction&)> const& body);

  /// The URL without its password.
  [[nodiscard]] std::string const& url() const noexcept;
  /// "sqlite", "postgres" or "mysql".
  [[nodiscard]] std::string_view dialect() const noexcept;
  /// For the other rooms of this library only.
  [[nodiscard]] work::engine& internals() const noexcept { return *engine_; }

 private:
  std::unique_ptr<work::engine> engine_;
};

}  // namespace v1
}  // namespace daybook
