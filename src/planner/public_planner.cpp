#include "planner/store.hpp"

#include <daybook/planner.hpp>

namespace daybook {
inline namespace v1 {

std::string const& planner::name() const noexcept { return inside_->declared().name; }
planner_options const& planner::options() const noexcept { return inside_->declared().options; }
std::vector<std::string> planner::advice() const { return inside_->advice(); }
pass_report planner::pass(pass_options const& options) { return inside_->pass(options); }
std::vector<plan_preview> planner::preview(int limit, launch_check const& check) const {
  return inside_->preview(limit, check);
}
planner_info planner::info() const { return inside_->info(); }
std::vector<refused_key> planner::refusals(refusals_query const& query) const {
  return inside_->refusals(query);
}
std::optional<planned_key> planner::find(key const& key) const { return inside_->find(key); }
bool planner::forget(key const& key, audit_note const& note) { return inside_->forget(key, note); }
bool planner::sweep_now(audit_note const& note) { return inside_->sweep_now(note); }
std::vector<sweep_info> planner::sweeps(int limit) const { return inside_->sweeps(limit); }
std::optional<sweep_page> planner::page(key const& task) const {
  return planners::page(inside_, task);
}
bool planner::pause(audit_note const& note) { return inside_->pause(true, note); }
bool planner::resume(audit_note const& note) { return inside_->pause(false, note); }
std::vector<change_info> planner::changes() const { return inside_->changes(); }
std::vector<period_info> planner::grid(grid_query const& query) const {
  return inside_->grid(query);
}
timestamp planner::watermark() const { return inside_->watermark(); }
bool planner::reopen(key const& period, audit_note const& note) {
  return inside_->reopen(period, note);
}

}  // namespace v1
}  // namespace daybook
