// What a person changes in a book. Each but prune is one transaction: its guarded write of the
// run's row, and the row that says who and why. So one whose reply was lost is run again whole: it
// waits for the old one, finds nothing left to change, and its own row as the evidence.
// Thread-safe.
#pragma once

#include "core/tx/context.hpp"

#include <daybook/inspect.hpp>
#include <daybook/names.hpp>
#include <daybook/operate.hpp>
#include <daybook/sql.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace core {

// As book's release(), restart(), resolve() and changes().
[[nodiscard]] change_outcome release_run(context const& context, process const& name,
                                         key const& run_key, audit_note const& note);
[[nodiscard]] change_outcome restart_run(context const& context, process const& name,
                                         key const& run_key, audit_note const& note);
[[nodiscard]] change_outcome resolve_step(context const& context, process const& name,
                                          key const& run_key, resolution const& resolution,
                                          audit_note const& note);
[[nodiscard]] std::vector<change_info> list_changes(context const& context,
                                                    std::string_view process, std::string_view key);

/// As book::changes(query).
[[nodiscard]] std::vector<change_info> list_changes(context const& context,
                                                    changes_query const& query);

/// As book::prune(): many transactions, of which the last says who and why.
[[nodiscard]] prune_report prune_history(context const& context, prune_options const& options,
                                         audit_note const& note);

/// A remark as it is stored.
struct bounded_remark {
  explicit bounded_remark(audit_note const& note);
  std::string actor;
  std::string reason;
  std::string request;

  /// Null where no request was named.
  [[nodiscard]] value request_value() const {
    return request.empty() ? value(nullptr) : value(std::string_view(request));
  }
};

/// Which run (or schedule and tick), whose change, and what is written down of it.
struct change {
  context const& with;
  std::string const& process;
  std::string const& key;
  std::string_view action;
  bounded_remark by;
};

/// Runs `guarded` in a transaction and, only where it hit, writes down that it did. False: it hit
/// nothing. After a lost reply it is run again, waits for the lost transaction's lock, and then
/// `detail`, the same for no two changes, is the evidence.
bool make(change const& change, std::string_view detail,
          std::function<bool(db::session&)> const& guarded);

}  // namespace core
}  // namespace v1
}  // namespace daybook
