// daybook::run and daybook::started: thin over core::held_run.
#include "core/run/run.hpp"

#include <daybook/adopt.hpp>
#include <daybook/run.hpp>

#include <cassert>
#include <utility>

namespace daybook {
inline namespace v1 {

run::run(std::unique_ptr<core::held_run> held) noexcept : held_(std::move(held)) {}
run::run(run&&) noexcept = default;
run& run::operator=(run&&) noexcept = default;
run::~run() = default;

outcome run::do_step(std::string_view name, step_options options, encoded_body const& body,
                     std::string& carried_value) {
  return held_->step(name, options, body, carried_value);
}

outcome run::do_joined(joined& yours, std::string_view name, encoded_body const& body,
                       std::string& carried_value) {
  return held_->step_in(yours.internals(), yours.book_id(), name, body, carried_value);
}
settlement run::confirm() { return held_->confirm(); }
settlement run::resolve() { return held_->resolve(); }
pending_end run::finish(joined& yours) && {
  auto const accepted = held_->end_in(yours.internals(), yours.book_id(), run_state::succeeded);
  return {std::move(held_), accepted};
}

pending_end::pending_end(std::shared_ptr<core::held_run> held, outcome accepted) noexcept
    : held_(std::move(held)), accepted_(accepted) {}
pending_end::pending_end(pending_end&&) noexcept = default;
pending_end& pending_end::operator=(pending_end&&) noexcept = default;
pending_end::~pending_end() = default;
settlement pending_end::confirm() {
  if (accepted_ == outcome::done) return held_->confirm();
  return accepted_ == outcome::lost ? settlement::lost : settlement::rolled_back;
}
settlement pending_end::resolve() {
  return accepted_ == outcome::done ? held_->resolve() : confirm();
}
run pending_end::take_back() && { return run(std::move(held_)); }

outcome run::do_at_least_once(std::string_view name, encoded_effect const& body,
                              std::string& text) {
  return held_->at_least_once(name, body, text);
}

outcome run::do_at_most_once(std::string_view name, encoded_effect const& body,
                             encoded_probe const& probe, std::string& text) {
  return held_->at_most_once(name, body, probe, text);
}

stepped<void> run::record(std::string_view name, std::string_view text,
                          std::optional<std::chrono::microseconds> took) {
  return stepped<void>(held_->record(name, text, took));
}
stepped<void> run::intend(std::string_view name) { return stepped<void>(held_->intend(name)); }
stepped<void> run::abandon(std::string_view name) { return stepped<void>(held_->abandon(name)); }
stepped<void> run::carry(std::string_view name, std::string_view text) {
  return stepped<void>(held_->carry(name, text));
}
std::optional<std::string> run::carried(std::string_view name) const {
  return held_->carried(name);
}
std::optional<step_mode> run::mode_of(std::string_view step) const { return held_->mode_of(step); }
std::optional<std::string> run::value(std::string_view step) const { return held_->value(step); }
void run::step_in_hand(std::string_view name) { held_->set_step(name); }

void run::progress(std::int64_t done, std::int64_t total, std::string_view note) {
  held_->set_progress(done, total, note);
}
void run::keep(std::optional<int> exit_code, std::string_view output) {
  held_->keep(exit_code, output);
}

bool run::done(std::string_view name) const { return held_->done(name); }

ended run::finish() && { return ended(held_->end(run_state::succeeded, {})); }

ended run::fail(std::string_view why) && { return ended(held_->end(run_state::failed, why)); }

ended run::release(std::string_view why) && {
  return ended(held_->end(run_state::interrupted, why));
}

process const& run::process_name() const noexcept { return held_->identity().process; }
key const& run::run_key() const noexcept { return held_->identity().key; }
std::int64_t run::number() const noexcept { return held_->identity().number; }
std::int64_t run::attempt() const noexcept { return held_->identity().attempt; }
std::int64_t run::epoch() const {
  held_->check_turn();
  return held_->held().epoch;
}
std::stop_token run::stop() const noexcept { return held_->stop(); }
std::optional<std::chrono::year_month_day> run::date() const noexcept {
  return held_->identity().date;
}
std::optional<std::chrono::microseconds> run::time_left() const noexcept {
  return held_->identity().time_left;
}
std::string run::token() const {
  held_->check_turn();
  return held_->token();
}
std::string run::idempotency_key(std::string_view step) const {
  return held_->idempotency_key(step);
}

started::started(run held) : run_(std::move(held)) {}
started::started(refusal why, std::optional<occupant> holder)
    : why_(why), holder_(std::move(holder)) {}

run started::take() && {
  assert(run_);
  return std::move(*run_);
}

refusal started::why() const {
  assert(!run_);
  return why_;
}

}  // namespace v1
}  // namespace daybook
