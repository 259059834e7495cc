// A run in hand: transactions that its fence guards, and that are no steps.
#include "base/mutant.hpp"
#include "core/run/run.hpp"
#include "core/tx/transact.hpp"

namespace daybook {
inline namespace v1 {
namespace core {

outcome held_run::write_fenced(std::string_view name,
                               std::function<bool(db::session&)> const& body) {
  context_.check_process();
  check_turn();
  if (!open_ || lost_) return outcome::lost;
  bool refused = false;
  bool renewed = false;
  auto sent = base::boot_clock::now();
  try {
    auto const decided = transact(context_, for_a_lease(context_, name), [&](db::session& session) {
      next_stamp();
      refused = false;
      sent = base::boot_clock::now();
      if (!fenced(session, context_.sql["run.fence"],
                  {process(), key(), held_.epoch, held_.uuid, held_.seen, stamp_}) &&
          !base::left_out("intake_once")) {
        return decision::rollback;
      }
      refused = !body(session);
      if (refused) return decision::rollback;
      renewed = renew_with(session);
      return decision::commit;
    });
    if (refused) return outcome::skipped;
    if (decided == decision::commit) {
      if (renewed) holder_->renewed(sent);
      return wrote();
    }
  } catch (lost_reply const&) {
    if (resolve_written(name) != fate::lost) return outcome::unknown;
  }
  settle_lost();
  return outcome::lost;
}

}  // namespace core
}  // namespace v1
}  // namespace daybook
