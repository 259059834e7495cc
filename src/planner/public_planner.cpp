#include "planner/store.hpp"

#include <daybook/planner.hpp>

namespace daybook {
inline namespace v1 {

std::string const& planner::name() const noexcept { return inside_->declared().name; }
planner_options const& planner::options() const noexcept { return inside_->declared().options; }
std::vector<std::string> planner::advice() const { return inside_->advice(); }
pass_report planner::pass(pass_options const& how) { return inside_->pass(how); }
std::vector<plan_preview> planner::preview(int limit, launch_check const& check) const {
  return inside_->preview(limit, check);
}
planner_info planner::info() const { return inside_->info(); }
std::vector<refused_key> planner::refusals(refusals_query const& what) const {
  return inside_->refusals(what);
}
std::optional<planned_key> planner::find(key const& of) const { return inside_->find(of); }
bool planner::forget(key const& of, audit_note const& by) { return inside_->forget(of, by); }
bool planner::sweep_now(audit_note const& by) { return inside_->sweep_now(by); }
std::vector<sweep_info> planner::sweeps(int limit) const { return inside_->sweeps(limit); }
std::optional<sweep_page> planner::page(key const& task) const {
  return planners::page(inside_, task);
}
bool planner::pause(audit_note const& by) { return inside_->pause(true, by); }
bool planner::resume(audit_note const& by) { return inside_->pause(false, by); }
std::vector<change_info> planner::changes() const { return inside_->changes(); }
std::vector<period_info> planner::grid(grid_query const& what) const { return inside_->grid(what); }
timestamp planner::watermark() const { return inside_->watermark(); }
bool planner::reopen(key const& period, audit_note const& by) {
  return inside_->reopen(period, by);
}

}  // namespace v1
}  // namespace daybook
