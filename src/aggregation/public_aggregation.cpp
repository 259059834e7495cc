// The public names of this room.
#include "aggregation/store.hpp"

#include <daybook/aggregation.hpp>

namespace daybook {
inline namespace v1 {

std::string const& aggregation::name() const noexcept { return inside_->declared().name; }
aggregation_options const& aggregation::options() const noexcept {
  return inside_->declared().options;
}
std::vector<std::string> aggregation::advice() const {
  return aggregations::advice_on(inside_->with(), inside_->declared());
}
aggregate_report aggregation::aggregate(aggregate_options const& options) {
  return aggregations::aggregate(*inside_, options);
}
std::vector<group_preview> aggregation::preview(int limit) const { return inside_->preview(limit); }
settling aggregation::close(std::string_view parent, audit_note const& note) {
  return inside_->close(parent, note);
}
std::int64_t aggregation::close_all(audit_note const& note) { return inside_->close_all(note); }
settling aggregation::settle(std::string_view parent, audit_note const& note) {
  return inside_->settle(parent, note);
}
settling aggregation::revert(std::string_view parent, audit_note const& note) {
  return inside_->revert(parent, note);
}
settling aggregation::remove(std::string_view row, audit_note const& note) {
  return inside_->remove(row, note);
}
std::optional<parent_info> aggregation::find(std::string_view parent) const {
  return inside_->find(parent);
}
std::vector<parent_info> aggregation::parents(parents_query const& query) const {
  return inside_->parents(query);
}
std::vector<aggregated_row> aggregation::rows(std::string_view parent, std::string_view after,
                                              int limit) const {
  return inside_->rows(parent, after, limit);
}
std::optional<std::string> aggregation::parent_of(std::string_view row) const {
  return inside_->parent_of(row);
}
verify_report aggregation::verify(int limit) const { return inside_->verify(limit); }
std::vector<aggregation_event> aggregation::history(std::string_view parent, int limit,
                                                    std::int64_t before) const {
  return inside_->history(parent, limit, before);
}

std::string_view word_of(settling way) noexcept {
  switch (way) {
    case settling::done: return "done";
    case settling::before: return "before";
    case settling::none: return "none";
    case settling::open: return "open";
    case settling::settled: return "settled";
    case settling::voided: return "voided";
    case settling::differs: return "differs";
    case settling::closed: return "closed";
  }
  return "";
}

std::string_view word_of(difference::kind kind) noexcept {
  switch (kind) {
    case difference::kind::count: return "count";
    case difference::kind::sum: return "sum";
    case difference::kind::state: return "state";
    case difference::kind::group: return "group";
    case difference::kind::orphan: return "orphan";
    case difference::kind::unlinked: return "unlinked";
    case difference::kind::unknown_state: return "unknown_state";
    case difference::kind::two_open: return "two_open";
    case difference::kind::gone: return "gone";
  }
  return "";
}

std::string_view word_of(aggregation_event::kind kind) noexcept {
  switch (kind) {
    case aggregation_event::kind::aggregate: return "aggregate";
    case aggregation_event::kind::close: return "close";
    case aggregation_event::kind::settle: return "settle";
    case aggregation_event::kind::revert: return "revert";
    case aggregation_event::kind::remove: return "remove";
  }
  return "";
}

}  // namespace v1
}  // namespace daybook
