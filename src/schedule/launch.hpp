// What a node does about one schedule: launches the tick that is due, takes over that of a dead
// node, tries again what failed, says what is skipped.
// Thread-safe.
#pragma once

#include "core/lease/holder.hpp"
#include "core/run/start.hpp"
#include "core/tx/context.hpp"
#include "schedule/decide.hpp"
#include "schedule/definition.hpp"

#include <daybook/run.hpp>
#include <daybook/tick.hpp>

#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

namespace daybook {
inline namespace v1 {
namespace schedules {

/// A tick in this process's hands. Whatever ends its run ends it in the same transaction.
struct launched {
  tick_facts facts;
  daybook::run held;
  bool taken_over = false;
};

struct attended {
  std::optional<launched> tick;
  /// Something was written, here or by another node: look again at once.
  bool look_again = false;
  /// One more of its ticks was decided: time to call launcher::prune().
  bool decided = false;
};

class launcher {
 public:
  launcher(core::context const& context, core::holder& lease, core::runs& starter)
      : context_(context), lease_(&lease), starter_(&starter) {}

  /// Does the next thing that is to be done, if any. Two commits make a tick: this one, and that of
  /// the end of its run. On failure: throws daybook::error; whatever was launched is let go of, and
  /// taken over by who looks next. Where this system does not have its zone nothing is taken.
  attended attend(definition const& schedule);

  /// Forgets ticks beyond those that are kept, where it is time for that: after what attend() has
  /// written, and not in its transaction, so that no launch waits for it. In small transactions, at
  /// most a bounded number. What fails is told to the observer, and tried again after the next
  /// launch. `schedule`: as attend() was given it.
  void prune(definition const& schedule, std::stop_token const& stop);

 private:
  attended launch(definition const& schedule, decision const& decision);
  attended try_again(definition const& schedule);
  attended take_over(definition const& schedule);
  attended end_failed(definition const& schedule);
  [[nodiscard]] std::optional<tick_info> running(definition const& schedule);
  [[nodiscard]] bool unchanged(db::session& session, definition const& schedule) const;
  /// False: nothing is known to have been written.
  bool skip(definition const& schedule, skipped const& skipped);
  /// The start said no: what that means for a tick that is there already. `first`, in the same
  /// transaction, says whether it still is as it was seen.
  attended refused(definition const& schedule, tick_info const& tick, start_refusal why,
                   core::runs::beside const& first);
  attended hand_over(definition const& schedule, tick_facts facts, run held, bool taken_over);
  [[nodiscard]] bool advance(db::session& session, definition const& schedule,
                             decision const& decision) const;
  void prune_pieces(definition const& schedule, std::stop_token const& stop) const;

  core::context context_;
  core::holder* lease_;
  core::runs* starter_;
  std::mutex guard_;
  std::set<std::string, std::less<>> owed_;  ///< schedules whose last pruning has failed
};

}  // namespace schedules
}  // namespace v1
}  // namespace daybook
