// What a book is made of: sessions, SQL, this process as a holder, the thread that renews.
// It is made ready at the first use that needs the tables, for migrate() comes before.
// Thread-safe.
#pragma once

#include "core/admin/version.hpp"
#include "core/lease/holder.hpp"
#include "core/run/start.hpp"
#include "core/tx/context.hpp"
#include "core/tx/doorbells.hpp"
#include "db/pool.hpp"
#include "db/url.hpp"
#include "planner/declarations.hpp"
#include "core/tx/registry.hpp"
#include "service/executor.hpp"
#include "service/lease_renewer.hpp"

#include <daybook/book.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace work {

/// How the composition root makes sessions, and of which kind they are.
struct driver {
  db::dialect const* about;
  db::placeholder style;
  std::function<std::unique_ptr<db::session>(db::connect_options const&)> connect;
  db::stock keeps = db::stock::kept;
};

class engine {
 public:
  /// Checks the options, and connects once. On failure: throws daybook::error.
  engine(db::url where, book_options options, driver driver);
  engine(engine const&) = delete;
  engine& operator=(engine const&) = delete;
  /// Ends the asynchronous calls, hands back the lease, then stops renewing: the heartbeat ends
  /// last.
  ~engine();

  /// Makes ready what needs the tables, where they are there: a borrowed handle may have a
  /// transaction open when they are needed.
  void look();
  void migrate();
  [[nodiscard]] std::vector<migration_info> migrations();
  /// For what needs no book: migrating, the doctor, preparing the user's tables.
  [[nodiscard]] core::context bare();
  /// For all else. On failure: throws daybook::error (error_code::configuration) when there is no
  /// book that this library may work with.
  [[nodiscard]] core::context ready();
  [[nodiscard]] core::runs& runs();
  [[nodiscard]] core::holder& lease();
  /// One renewal now. False: this process was declared dead.
  bool renew();
  /// Whether this process's lease is renewed by its steps only.
  [[nodiscard]] bool borrowed() const noexcept { return driver_.keeps == db::stock::single; }
  /// For a session over a transaction of the application's: as core::check_joined().
  void check_joined(db::session& session);
  [[nodiscard]] bool clock_is_movable();
  /// Of planners, by this program.
  [[nodiscard]] planners::declarations& declared() noexcept { return declared_; }
  [[nodiscard]] executor& asynchronous() noexcept { return asynchronous_; }

  [[nodiscard]] db::url const& where() const noexcept { return where_; }
  [[nodiscard]] db::dialect const& speaks() const noexcept { return *driver_.about; }
  [[nodiscard]] bool forked() const noexcept { return base::process_id() != process_; }

  [[nodiscard]] db::connect_options connecting() const;

 private:
  /// What exists once the book's version has been read.
  struct parts {
    db::catalogue sql;
    core::book_version version;
    std::unique_ptr<core::holder> lease;
    std::unique_ptr<core::runs> starter;
    std::unique_ptr<lease_renewer> background;
  };
  [[nodiscard]] core::context context_of(db::catalogue const& sql, std::string_view book_id);
  [[nodiscard]] db::catalogue_options catalogue_of(db::clock_kind clock) const;
  /// For the renewal, which must know in time that it has failed.
  [[nodiscard]] db::connect_options hurried() const;
  parts& require();

  db::url where_;
  book_options options_;
  driver driver_;
  std::int64_t process_;
  observer silent_;
  db::user_statements user_sql_;
  db::pool sessions_;
  db::pool listeners_;
  core::doorbells doorbells_;
  core::registry queues_;
  planners::declarations declared_;
  std::string schema_;
  std::unique_ptr<db::catalogue> bare_sql_;
  std::mutex guard_;
  std::unique_ptr<parts> parts_;
  executor asynchronous_;
};

}  // namespace work
}  // namespace v1
}  // namespace daybook
