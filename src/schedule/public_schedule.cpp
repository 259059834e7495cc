// The public names of this room.
#include "schedule/store.hpp"

#include <daybook/schedule.hpp>

namespace daybook {
inline namespace v1 {

std::string const& schedule::name() const noexcept { return inside_->name(); }
schedule_info schedule::info() const { return inside_->info(); }
timestamp schedule::trigger(audit_note const& note) { return inside_->trigger(note); }
bool schedule::retry(timestamp tick, audit_note const& note) { return inside_->retry(tick, note); }
bool schedule::pause(audit_note const& note) { return inside_->pause(note); }
bool schedule::resume(audit_note const& note) { return inside_->resume(note); }
bool schedule::remove(audit_note const& note) { return inside_->remove(note); }
std::vector<tick_info> schedule::ticks(ticks_query const& query) const {
  return inside_->ticks(query);
}
std::optional<tick_info> schedule::find(timestamp tick) const { return inside_->find(tick); }

}  // namespace v1
}  // namespace daybook
