#include "intake/store.hpp"

#include <daybook/intake.hpp>

namespace daybook {
inline namespace v1 {

std::string const& intake::name() const noexcept { return inside_->declared().name; }
intake_options const& intake::options() const noexcept { return inside_->declared().options; }
take_report intake::take_from(broker::log& source, take_options const& options) {
  return inside_->take_from(source, options);
}
take_report intake::take_from(broker::queue& source, take_options const& options) {
  return inside_->take_from(source, options);
}
intake_info intake::info() const { return inside_->info(); }
std::vector<refused_message> intake::refused(refused_query const& query) const {
  return inside_->refused(query);
}
bool intake::retry(std::int64_t number, audit_note const& note, intake_body const& body) {
  return inside_->retry(number, note, body);
}
bool intake::discard(std::int64_t number, audit_note const& note) {
  return inside_->discard(number, note);
}
bool intake::move(broker::log_place const& place, audit_note const& note) {
  return inside_->move(place, note);
}
bool intake::pause(audit_note const& note) {
  return inside_->set_state(intake_state::paused, note);
}
bool intake::resume(audit_note const& note) {
  return inside_->set_state(intake_state::active, note);
}
std::vector<change_info> intake::changes() const { return inside_->changes(); }

}  // namespace v1
}  // namespace daybook
