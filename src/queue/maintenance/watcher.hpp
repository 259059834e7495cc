// A queue and the table that it follows: what is remembered of the two, triggers, the comparison.
// Thread-safe.
#pragma once

#include "db/catalogue.hpp"
#include "queue/members/store.hpp"
#include "tables/table.hpp"

#include <daybook/table_sync.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace queues {

/// A table as it is now, fit to be followed.
struct followed {
  tables::table table;
  std::string column;
  db::holes sql;  ///< for the shapes of sql/*/watch.sql
};

/// On failure: daybook::error (error_code::bad_argument) where it cannot be followed.
[[nodiscard]] followed look_at(store const& store, synced_table const& table);

/// A member that is removed when it is done would come again with the row that it is of.
/// On failure: daybook::error (error_code::bad_argument).
void check_kept(store const& store, synced_table const& table);

class watcher {
 public:
  watcher(std::shared_ptr<store> store, synced_table table);

  [[nodiscard]] table_sync_info info() const;
  /// They were installed, and not all are there.
  [[nodiscard]] bool lost_triggers() const;
  [[nodiscard]] std::string trigger_sql() const;
  [[nodiscard]] std::string drop_sql() const;
  /// Null `note`: not written down.
  void install(audit_note const* note);
  void uninstall(audit_note const* note);

  // reconcile.cpp
  reconcile_report reconcile(reconcile_callback const& on_progress);
  [[nodiscard]] table_difference compare(std::int64_t at_most) const;

 private:
  /// A page of the table's rows.
  struct rows_page {
    std::vector<entry> missing;
    std::int64_t seen = 0;
    std::int64_t refused = 0;
    std::string example;
    cell mark;  ///< the last row's value
  };
  /// A page of the members.
  struct members_page {
    std::vector<std::int64_t> extra;  ///< ids
    std::int64_t seen = 0;
    std::string last;
  };
  [[nodiscard]] rows_page rows_after(followed const& followed, cell const* mark) const;
  [[nodiscard]] members_page members_after(followed const& followed, std::string const& last) const;
  [[nodiscard]] std::int64_t drop(followed const& followed,
                                  std::vector<std::int64_t> const& ids) const;
  bool remove_extra(followed const& followed, reconcile_progress& sum,
                    reconcile_callback const& on_progress) const;
  bool add_missing(followed const& followed, reconcile_progress& sum, reconcile_report& out,
                   reconcile_callback const& on_progress) const;
  void execute(db::entry made) const;
  void set_installed(bool installed, audit_note const* note) const;

  std::shared_ptr<store> store_;
  synced_table table_;
};

/// Remembers that the queue follows the table. On failure: as look_at(); error_code::bad_argument,
/// too, where it follows another whose triggers are there. Null `note`: not written down.
std::shared_ptr<watcher> follow(std::shared_ptr<store> store, synced_table const& table,
                                audit_note const* note);
/// Null: it follows none.
[[nodiscard]] std::shared_ptr<watcher> followed_by(std::shared_ptr<store> store);
/// False: it follows none.
bool unfollow(store& store, audit_note const* note);

}  // namespace queues
}  // namespace v1
}  // namespace daybook
