// The ledger of a claim: which of its tasks were begun, where the claim says that, and how those
// that are finished ended.
// Thread safety: values.
#pragma once

#include "core/tx/context.hpp"
#include "db/session.hpp"
#include "queue/model/settle.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace base {
class rows;
}  // namespace base

namespace queues {

/// Which ids, and how they ended.
struct ledger_entry {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  verdict how;
};

struct ledger {
  struct range {
    std::int64_t lo = 0;
    std::int64_t hi = 0;
  };
  std::vector<ledger_entry> ended = {};  ///< in the order of ids
  std::vector<range> begun = {};         ///< in the order of ids, where `announced`
  bool announced = false;                ///< else all may have been begun

  [[nodiscard]] bool empty() const noexcept { return ended.empty() && !announced; }
  [[nodiscard]] bool has_begun(std::int64_t id) const noexcept;
};

[[nodiscard]] ledger ledger_of(core::context const& context, db::session& session,
                               std::string const& claim);

/// A row of claim.done: the tasks [lo, hi) begin. In the table it is [-hi, -lo), which is no
/// task's: releases that know none of these rows pass over them.
void add_beginning(base::rows& rows, std::int64_t lo, std::int64_t hi);
/// The rows of a claim none of whose tasks has begun, with which it says that they will be
/// announced. No task has the id 0.
[[nodiscard]] std::string nothing_begun();

}  // namespace queues
}  // namespace v1
}  // namespace daybook
