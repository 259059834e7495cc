// The public names of this room.
#include "schedule/store.hpp"

#include <daybook/schedule.hpp>

namespace daybook {
inline namespace v1 {

std::string const& schedule::name() const noexcept { return inside_->name(); }
schedule_info schedule::info() const { return inside_->info(); }
timestamp schedule::trigger(audit_note const& by) { return inside_->trigger(by); }
bool schedule::retry(timestamp tick, audit_note const& by) { return inside_->retry(tick, by); }
bool schedule::pause(audit_note const& by) { return inside_->pause(by); }
bool schedule::resume(audit_note const& by) { return inside_->resume(by); }
bool schedule::remove(audit_note const& by) { return inside_->remove(by); }
std::vector<tick_info> schedule::ticks(ticks_query const& what) const {
  return inside_->ticks(what);
}
std::optional<tick_info> schedule::find(timestamp tick) const { return inside_->find(tick); }

}  // namespace v1
}  // namespace daybook
