// A table of yours whose rows are a queue's members: one for each value of a column. Triggers are
// fast; they are printed first, and installed on request. reconcile() is complete: it also finds
// changes that triggers miss (cascades and TRUNCATE on MariaDB, REPLACE on SQLite, replica roles).
// Thread safety: any thread may call. Lifetime: the queue's book must outlive it.
//
//   auto products = stock.follow({.table = "product", .key = "code"});
//   std::cout << products.trigger_sql();
//   products.install();
//   products.reconcile();
#pragma once

#include <daybook/detail/export.hpp>
#include <daybook/operate.hpp>
#include <daybook/queue.hpp>
#include <daybook/time.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace daybook {
inline namespace v1 {

namespace queues {
class watcher;
}  // namespace queues

struct synced_table {
  std::string table;  ///< "product" or "shop.product"; without a schema, the connection's
  std::string key;    ///< a column of integers, texts, uuids or dates, never null, and unique
};

/// The progress of a comparison.
struct reconcile_progress {
  std::int64_t seen = 0;  ///< rows and members compared
  std::int64_t added = 0;
  std::int64_t removed = 0;
};
/// Called between pages; false: no more for now.
using reconcile_callback = std::function<bool(reconcile_progress const&)>;

struct reconcile_report {
  std::int64_t added = 0;    ///< rows that had no member
  std::int64_t removed = 0;  ///< members that had no row
  std::int64_t refused = 0;  ///< rows whose value cannot be a key, such as over 255 bytes
  std::string example;       ///< one of those
  bool complete = true;      ///< false: `on_progress` has ended it
};

struct table_difference {
  std::int64_t missing = 0;  ///< rows that have no member
  std::int64_t extra = 0;    ///< members that have no row
  std::int64_t refused = 0;
  bool exact = true;  ///< false: there are more than were counted
};

struct table_sync_info {
  synced_table table;
  bool installed = false;  ///< all triggers are there
  std::optional<timestamp> reconciled;
};

class DAYBOOK_EXPORT table_sync {
 public:
  explicit table_sync(std::shared_ptr<queues::watcher> inside) : inside_(std::move(inside)) {}

  // On failure, all: throws daybook::error. error_code::bad_argument where the table or the column
  // is not there any more, or is not as synced_table wants it.

  [[nodiscard]] table_sync_info info() const;

  /// The SQL of install() and uninstall(), for people who want to read it or run it themselves.
  [[nodiscard]] std::string trigger_sql() const;
  [[nodiscard]] std::string drop_sql() const;
  /// Makes the triggers: from then on members come and go within the transactions that change the
  /// table. May be repeated. Waits for transactions that use the table.
  void install();
  void uninstall();
  /// The same; the book keeps who and why (queue::changes()).
  void install(audit_note const& note);
  void uninstall(audit_note const& note);

  /// Compares both ways, page by page, and adds and removes what differs. It never holds up claims.
  /// Changes that commit meanwhile may be left for the next comparison.
  reconcile_report reconcile(reconcile_callback const& on_progress = {});
  /// Counts what reconcile() would add and remove, up to `at_most` each way.
  [[nodiscard]] table_difference compare(std::int64_t at_most = 10'000) const;

 private:
  std::shared_ptr<queues::watcher> inside_;
};

}  // namespace v1
}  // namespace daybook
